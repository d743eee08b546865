import { EngineFailure } from '../../operation/engine.js';
import { buildAddedFields, createRequestBody } from './request.js';
import { RetryLoop, type UpstreamTask } from './retry.js';
import { parseState, saveState } from './state.js';
import { submitTask } from './submit.js';

/** How long starting a task is retried. */
const START_TIMEOUT_MS = 60 * 60_000;
/** A few refusals are tolerated, because both sides may replace the key at slightly different times. */
const MAX_REFUSED_KEYS = 5;

// Decided: a vendor that honours Idempotency-Key, as its answers show or the configuration says, is asked
// until it answers; the key is this service's task id, so that repeated requests start one task. Any other
// vendor is not asked again once it may have started: better a refund here than two charges there.
/**
 * Starts the task at the vendor, at most once across failures, restarts and crashes.
 * @returns the vendor's id of the task
 */
export async function startVendorTask(task: UpstreamTask): Promise<string> {
  const { memory, vendor, job } = task;
  const state = parseState(await memory.read());
  if (state.taskId !== undefined) return state.taskId;
  if (state.asked && !state.asked.keyHonoured && !vendor.honoursKeys)
    throw answerLost('this service was interrupted');
  const added = state.added ?? (await buildAddedFields(task));
  const body = await createRequestBody(job, added);
  const retry = new RetryLoop(task);
  for (let refusedKeys = 0; ; ) {
    await saveState(memory, { added, asked: { keyHonoured: vendor.honoursKeys } });
    const outcome = await submitTask(task, body);
    if (outcome.kind === 'started') {
      await saveState(memory, { taskId: outcome.taskId });
      return outcome.taskId;
    }
    if (outcome.kind === 'refused')
      throw new EngineFailure(`The vendor refused the request: ${outcome.why}`, { code: 'vendor_refused' });
    if (outcome.kind === 'key refused' && ++refusedKeys === MAX_REFUSED_KEYS)
      throw credentialRefused(task, outcome.why);
    if (outcome.kind === 'unclear' && !vendor.honoursKeys) throw answerLost(outcome.why);
    // Nothing was started, and this state still says so after a crash.
    if (!vendor.honoursKeys) await saveState(memory, { added });
    await retry.waitForRetry({ ...outcome, timeoutMs: START_TIMEOUT_MS });
  }
}

function answerLost(why: string): EngineFailure {
  const message = `The vendor's answer was lost (${why}), and starting the task again might be charged twice.`;
  return new EngineFailure(message, { code: 'vendor_answer_lost' });
}

function credentialRefused({ log, vendor }: UpstreamTask, reason: string): EngineFailure {
  log('error', "A vendor refuses this service's key.", { vendor: new URL(vendor.baseUrl).host, reason });
  const message = "The vendor refused this service's credential; contact the operator of this service.";
  return new EngineFailure(message, { code: 'vendor_credential_refused' });
}
