import { EngineFailure, type EngineWait } from '../../operation/engine.js';
import { buildAddedFields, createRequestBody } from './request.js';
import { type UpstreamTask, waitForRetry } from './retry.js';
import { saveState, type UpstreamState } from './state.js';
import { submitTask } from './submit.js';

/** How long starting a task is retried. */
const START_TIMEOUT_MS = 60 * 60_000;
/** A few refusals are tolerated, because both sides may replace the key at slightly different times. */
const MAX_REFUSED_KEYS = 5;

// Decided: a vendor that honours Idempotency-Key, as its answers show or the configuration says, is asked
// until it answers; the key is this service's task id, so that repeated requests start one task. Any other
// vendor is not asked again once it may have started: better a refund here than two charges there.
/**
 * Asks the vendor to start the task, at most once across failures, restarts and crashes.
 * @returns the state of the started task
 */
export async function startVendorTask(
  task: UpstreamTask,
  state: UpstreamState,
): Promise<(UpstreamState & { readonly taskId: string }) | EngineWait> {
  const { memory, vendor, job, now } = task;
  if (state.asked && !state.asked.keyHonoured && !vendor.honoursKeys)
    throw answerLost('this service was interrupted');
  const { refusedKeys = 0, failingSince } = state;
  const added = state.added ?? (await buildAddedFields(task));
  const body = await createRequestBody(job, added);
  const asking = { added, refusedKeys, failingSince, asked: { keyHonoured: vendor.honoursKeys } };
  await saveState(memory, asking);
  const outcome = await submitTask(task, body);
  if (outcome.kind === 'started') {
    const started = { taskId: outcome.taskId, startedAt: now() };
    await saveState(memory, started);
    return started;
  }
  if (outcome.kind === 'refused')
    throw new EngineFailure(`The vendor refused the request: ${outcome.why}`, { code: 'vendor_refused' });
  const isKeyRefused = outcome.kind === 'key refused';
  if (isKeyRefused && refusedKeys + 1 === MAX_REFUSED_KEYS) throw credentialRefused(task, outcome.why);
  if (outcome.kind === 'unclear' && !vendor.honoursKeys) throw answerLost(outcome.why);
  // Without `asked`: nothing was started, and this state still says so after a crash.
  const unasked = { added, refusedKeys: refusedKeys + Number(isKeyRefused), failingSince };
  const next = vendor.honoursKeys ? { ...unasked, asked: { keyHonoured: true } } : unasked;
  return await waitForRetry(task, next, { ...outcome, timeoutMs: START_TIMEOUT_MS });
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
