import { parseRetryAfter } from '../../../wire/retry-after.js';
import { findReason, parseTaskId } from './parse-answers.js';
import { getStartPath } from './paths.js';
import type { RequestBody } from './request.js';
import type { UpstreamTask } from './retry.js';
import { NoAnswer, type VendorAnswer } from './vendor.js';

/** The result of one request to start a task. */
export type SubmitOutcome =
  | { readonly kind: 'started'; readonly taskId: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'key refused'; readonly why: string }
  /** Certainly nothing was started; the vendor may ask for a pause. */
  | { readonly kind: 'not started'; readonly why: string; readonly askedMs?: number | undefined }
  | { readonly kind: 'unclear'; readonly why: string };

/** When the service stops, how long it waits for an answer, to learn whether the task was started. */
const ABORT_DELAY_MS = 5_000;

/** Sends one request to start the task, with this service's task id as the Idempotency-Key. */
export async function submitTask(task: UpstreamTask, body: RequestBody): Promise<SubmitOutcome> {
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
