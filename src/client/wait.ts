import { backoffMs, MAX_TIMER_MS } from '../wire/backoff.js';
import { ClientError, InvalidRequestError, NetworkError, ServiceError, StillRunningError } from './errors.js';
import { requireInput } from './require-input.js';
import { type Sleep, sleepOrAbort } from './sleep.js';

export interface WaitOptions<Answer> {
  /** Whether the work has ended, in success or failure. An unknown status should count as running. */
  readonly isDone: (answer: Answer) => boolean;
  /** Called with every answer. */
  readonly onAnswer?: (answer: Answer) => void;
  /** Called with every failure that is tolerated. */
  readonly onFailure?: (error: ClientError) => void;
  /** How long to wait in total. Default 30 minutes. */
  readonly timeoutMs?: number;
  /** The maximum polling interval. Default 10 s. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly now?: () => number;
  readonly sleep?: Sleep;
  readonly random?: () => number;
}

const MAX_FAILURES = 5;
/** Many previews and checks end within tens of milliseconds. */
const FIRST_PAUSE_MS = 40;
const FIRST_PAUSE_AFTER_FAILURE_MS = 150;
const LAST_REQUEST_MS = 1000;

/**
 * Polls until the work has ended: quickly at first, then with growing pauses and jitter.
 * @throws StillRunningError after the timeout; the last failure after 5 tolerated ones in a row; any failure
 *   that is not transient; or the reason of the signal
 */
export async function wait<Answer>(
  read: () => Promise<Answer>,
  options: WaitOptions<Answer>,
): Promise<Answer> {
  requireInput({
    read: typeof read !== 'function' && 'must be a function',
    isDone: typeof options?.isDone !== 'function' && 'must be a function',
  });
  const {
    signal,
    timeoutMs = 30 * 60_000,
    intervalMs = 10_000,
    now = Date.now,
    random = Math.random,
  } = options;
  const ends = now() + timeoutMs;
  let last: Answer | undefined;
  let failures = 0;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    let asked: number | undefined;
    let firstMs = FIRST_PAUSE_MS;
    try {
      last = await endWithin(Math.max(0, ends - now()), read());
      failures = 0;
      options.onAnswer?.(last);
      if (options.isDone(last)) return last;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof StillRunningError) throw new StillRunningError(last);
      failures += 1;
      firstMs = FIRST_PAUSE_AFTER_FAILURE_MS;
      if (!isTransient(error) || failures > MAX_FAILURES) throw error;
      options.onFailure?.(error);
      asked = error instanceof ServiceError ? error.retryAfterMs : undefined;
    }
    const left = ends - now();
    if (left <= 0) throw new StillRunningError(last);
    const pauseMs = backoffMs(attempt, { firstMs, maxMs: intervalMs, factor: 1.5, random });
    const next = Math.max(asked ?? 0, pauseMs);
    await sleepOrAbort(Math.min(next, left), signal, options.sleep);
  }
}

/** A service that stays silent must not prolong the wait. The last request may take a second, however late. */
async function endWithin<Answer>(ms: number, reading: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    const end = () => reject(new StillRunningError(undefined));
    timer = setTimeout(end, Math.min(Math.max(ms, LAST_REQUEST_MS), MAX_TIMER_MS));
  });
  try {
    return await Promise.race([reading, over]);
  } finally {
    clearTimeout(timer);
    reading.catch(() => undefined);
  }
}

/** Failures of connections and proxies are transient; refusals by the service are not. */
function isTransient(error: unknown): error is ClientError {
  if (error instanceof ServiceError) return error.status === 429 || error.status >= 500;
  if (error instanceof NetworkError) return error.code !== 'tls';
  return error instanceof ClientError && !(error instanceof InvalidRequestError);
}
