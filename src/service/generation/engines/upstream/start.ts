import { EngineFailure } from '../../engine.js';
import { additionsFor } from './additions.js';
import { askToStart } from './asking.js';
import { type Errand, Trying } from './errand.js';
import { keep, keptIn } from './memory.js';
import { bodyOf } from './request.js';

/** A vendor that takes no task for so long will not soon. Milliseconds. */
const patienceMs = 60 * 60_000;
/** A key may be exchanged at both ends, one a little after the other. */
const mostRefusedKeys = 5;

// Decided: a vendor that honours Idempotency-Key, which its answers show or the configuration says, is asked until it
// has answered: the key is this service's id of the task, so that however often it is asked it begins one. Any other is
// not asked again once it may have begun: the task fails, and its credits are given back here, rather than be paid for
// twice there.
/**
 * Has the vendor start the task, at most once, over failures, ends of the service and crashes.
 * @returns the vendor's id of it
 */
export async function startAtVendor(errand: Errand): Promise<string> {
  const { memory, vendor, job } = errand;
  const kept = keptIn(await memory.read());
  if (kept.taskId !== undefined) return kept.taskId;
  if (kept.asked && !kept.asked.keyHonoured && !vendor.honoursKeys) throw lost('this service was cut off');
  const added = kept.added ?? (await additionsFor(errand));
  const body = await bodyOf(job, added);
  const trying = new Trying(errand);
  for (let refusedKeys = 0; ; ) {
    await keep(memory, { added, asked: { keyHonoured: vendor.honoursKeys } });
    const outcome = await askToStart(errand, body);
    if (outcome.kind === 'begun') {
      await keep(memory, { taskId: outcome.taskId });
      return outcome.taskId;
    }
    if (outcome.kind === 'refused')
      throw new EngineFailure(`The vendor refused the request: ${outcome.why}`, { code: 'vendor_refused' });
    if (outcome.kind === 'key refused' && ++refusedKeys === mostRefusedKeys)
      throw keyRefused(errand, outcome.why);
    if (outcome.kind === 'unclear' && !vendor.honoursKeys) throw lost(outcome.why);
    // Nothing was begun, and a crash in the pause leaves no doubt of it.
    if (!vendor.honoursKeys) await keep(memory, { added });
    await trying.outlive({ ...outcome, patienceMs });
  }
}

function lost(why: string): EngineFailure {
  const message = `The vendor was asked to begin but its answer was lost (${why}); asking again might be paid twice.`;
  return new EngineFailure(message, { code: 'vendor_answer_lost' });
}

function keyRefused({ log, vendor }: Errand, reason: string): EngineFailure {
  log('error', "A vendor refuses this service's key.", { vendor: new URL(vendor.baseUrl).host, reason });
  const message = "The vendor refused this service's own credential; tell whoever runs this service.";
  return new EngineFailure(message, { code: 'vendor_credential_refused' });
}
