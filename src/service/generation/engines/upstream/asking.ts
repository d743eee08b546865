import { retryAfterMs } from '../../../events/pauses.js';
import { reasonIn, taskIdIn } from './answers.js';
import type { Errand } from './errand.js';
import { startPath } from './paths.js';
import type { Body } from './request.js';
import { NoAnswer, type VendorAnswer } from './vendor.js';

/** How one request to start a task ended. */
export type Outcome =
  | { readonly kind: 'begun'; readonly taskId: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'key refused'; readonly why: string }
  /** Surely nothing was begun; the vendor may ask for a pause. */
  | { readonly kind: 'not begun'; readonly why: string; readonly askedMs?: number | undefined }
  | { readonly kind: 'unclear'; readonly why: string };

/** When the service ends, an answer that is under way is worth a moment: what was begun is then known. Milliseconds. */
const momentMs = 5_000;

/** Asks the vendor once to start the task, under this service's id of it. */
export async function askToStart(errand: Errand, body: Body): Promise<Outcome> {
  const { vendor, job, signal } = errand;
  const moment = aMomentAfter(signal);
  try {
    const answer = await vendor.ask({
      method: 'POST',
      path: startPath(job.operation),
      headers: {
        'content-type': 'application/json',
        'content-length': String(body.length),
        'idempotency-key': job.id,
      },
      body: body.open(),
      signal: moment.signal,
    });
    return judged(errand, answer);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { kind: error.sent ? 'unclear' : 'not begun', why: error.message };
  } finally {
    moment.end();
  }
}

function judged({ vendor, now }: Errand, { status, headers, body }: VendorAnswer): Outcome {
  const why = `it answered ${status}`;
  if (status >= 200 && status < 300) {
    const taskId = taskIdIn(body);
    return taskId === undefined
      ? { kind: 'unclear', why: 'its answer names no task' }
      : { kind: 'begun', taskId };
  }
  if (status === 401 || status === 403) return { kind: 'key refused', why };
  if (status === 429 || status === 503 || status < 400)
    return { kind: 'not begun', why, askedMs: retryAfterMs(headers['retry-after'], now()) };
  // 409: the first request with this key is still being answered.
  if (status >= 500 || status === 408 || (status === 409 && vendor.honoursKeys))
    return { kind: 'unclear', why };
  return { kind: 'refused', why: vendor.wordsFrom(reasonIn(body) ?? why) };
}

function aMomentAfter(signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  signal.throwIfAborted();
  const later = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    timer = setTimeout(() => later.abort(signal.reason), momentMs);
  };
  signal.addEventListener('abort', begin, { once: true });
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', begin);
  };
  return { signal: later.signal, end };
}
