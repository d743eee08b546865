import { parseRetryAfter } from '../../../wire/retry-after.js';
import { EngineFailure, type EngineWait } from '../../operation/engine.js';
import { findReason, parseTaskId } from './parse-answers.js';
import { buildAddedFields, createRequestBody, getStartPath, type RequestBody } from './request.js';
import { type UpstreamTask, waitForRetry } from './retry.js';
import { saveState, type UpstreamState } from './state.js';
import { NoAnswer, type VendorAnswer } from './vendor.js';

/** How long starting a task is retried. */
const START_TIMEOUT_MS = 60 * 60_000;
/** A few refusals are tolerated, because both sides may replace the key at slightly different times. */
const MAX_REFUSED_KEYS = 5;

// Decided: a vendor that honours Idempotency-Key, as its answers show or the configuration says, is asked
// until it answers; the key is this service's task id, so that repeated requests start one task. Any other
// vendor is not asked again once it may have started: better a failure here than two charges there.
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
  const { refusedKeys = 0, failingSince, failures } = state;
  // An earlier answer was lost.
  const mayBeCharged = state.asked !== undefined;
  const added = state.added ?? (await buildAddedFields(task));
  const body = await createRequestBody(job, added);
  const asking = { added, refusedKeys, failingSince, failures, asked: { keyHonoured: vendor.honoursKeys } };
  await saveState(memory, asking);
  const outcome = await submitTask(task, body);
  if (outcome.kind === 'started') {
    const started = { taskId: outcome.taskId, startedAt: now() };
    await saveState(memory, started);
    return started;
  }
  if (outcome.kind === 'refused')
    throw new EngineFailure(`The vendor refused the request: ${outcome.why}`, {
      code: 'vendor_refused',
      mayBeCharged,
    });
  const isKeyRefused = outcome.kind === 'key refused';
  if (isKeyRefused && refusedKeys + 1 === MAX_REFUSED_KEYS)
    throw credentialRefused(task, outcome.why, mayBeCharged);
  if (outcome.kind === 'unclear' && !vendor.honoursKeys) throw answerLost(outcome.why);
  // Without `asked`: nothing was started, and this state still says so after a crash.
  const unasked = { added, refusedKeys: refusedKeys + Number(isKeyRefused), failingSince, failures };
  const isAsked = vendor.honoursKeys && (mayBeCharged || outcome.kind === 'unclear');
  const next = isAsked ? { ...unasked, asked: { keyHonoured: true } } : unasked;
  return await waitForRetry(task, next, { ...outcome, timeoutMs: START_TIMEOUT_MS });
}

function answerLost(why: string): EngineFailure {
  const message = `The vendor's answer was lost (${why}), and starting the task again might be charged twice.`;
  return new EngineFailure(message, { code: 'vendor_answer_lost', mayBeCharged: true });
}

function credentialRefused(
  { log, vendor }: UpstreamTask,
  reason: string,
  mayBeCharged: boolean,
): EngineFailure {
  log('error', "A vendor refuses this service's key.", { vendor: new URL(vendor.baseUrl).host, reason });
  const message = "The vendor refused this service's credential; contact the operator of this service.";
  return new EngineFailure(message, { code: 'vendor_credential_refused', mayBeCharged });
}

/** The result of one request to start a task. */
type SubmitOutcome =
  | { readonly kind: 'started'; readonly taskId: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'key refused'; readonly why: string }
  /** Certainly nothing was started; the vendor may ask for a pause. */
  | { readonly kind: 'not started'; readonly why: string; readonly askedMs?: number | undefined }
  | { readonly kind: 'unclear'; readonly why: string };

/** When the service stops, how long it waits for an answer, to learn whether the task was started. */
const ABORT_DELAY_MS = 5_000;

/** Sends one request to start the task, with this service's task id as the Idempotency-Key. */
async function submitTask(task: UpstreamTask, body: RequestBody): Promise<SubmitOutcome> {
  const { vendor, job, signal } = task;
  const delayed = delayAbort(signal);
  try {
    const answer = await vendor.send({
      method: 'POST',
      path: getStartPath(job.operation),
      headers: {
        'content-type': 'application/json',
        'content-length': String(body.length),
        'idempotency-key': job.id,
      },
      body: body.open(),
      signal: delayed.signal,
    });
    return toOutcome(task, answer);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { kind: error.sent ? 'unclear' : 'not started', why: error.message };
  } finally {
    delayed.end();
  }
}

function toOutcome({ vendor, now }: UpstreamTask, { status, headers, body }: VendorAnswer): SubmitOutcome {
  const why = `it answered ${status}`;
  if (status >= 200 && status < 300) {
    const taskId = parseTaskId(body);
    return taskId === undefined
      ? { kind: 'unclear', why: 'its answer has no task id' }
      : { kind: 'started', taskId };
  }
  if (status === 401 || status === 403) return { kind: 'key refused', why };
  if (status === 429 || status === 503 || status < 400)
    return { kind: 'not started', why, askedMs: parseRetryAfter(headers['retry-after'], now()) };
  // 409: the first request with this key is still in progress.
  if (status >= 500 || status === 408 || (status === 409 && vendor.honoursKeys))
    return { kind: 'unclear', why };
  return { kind: 'refused', why: vendor.cleanText(findReason(body) ?? why) };
}

function delayAbort(signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  signal.throwIfAborted();
  const delayed = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    timer = setTimeout(() => delayed.abort(signal.reason), ABORT_DELAY_MS);
  };
  signal.addEventListener('abort', begin, { once: true });
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', begin);
  };
  return { signal: delayed.signal, end };
}
