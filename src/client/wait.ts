import { setTimeout as pause } from 'node:timers/promises';
import { ClientError, InvalidRequestError, NetworkError, ServiceError, StillRunningError } from './errors.js';

export interface WaitOptions<Answer> {
  /** Whether the work has ended, well or badly. A status that is not known here is to count as running. */
  readonly isDone: (answer: Answer) => boolean;
  /** Called with every answer. */
  readonly onAnswer?: (answer: Answer) => void;
  /** Called with every failure that is outlived. */
  readonly onFailure?: (error: ClientError) => void;
  /** The pause that a service asks for with an answer, in milliseconds. */
  readonly askedPauseMs?: (answer: Answer) => number | undefined;
  /** How long to wait in all. Default 30 minutes. */
  readonly timeoutMs?: number;
  /** The longest pause between two looks. Default 10 s. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random?: () => number;
}

const outlivedFailures = 5;
const firstPauseMs = 150;

/**
 * Looks again and again until the work has ended. Quick at first, then with growing, jittered pauses.
 * @throws StillRunningError after the time given, the last failure after 5 outlived ones in a row, a failure that
 *   asking again does not mend at once, or the signal's reason
 */
export async function wait<Answer>(
  read: () => Promise<Answer>,
  options: WaitOptions<Answer>,
): Promise<Answer> {
  const {
    signal,
    timeoutMs = 30 * 60_000,
    intervalMs = 10_000,
    now = Date.now,
    random = Math.random,
  } = options;
  const sleep = options.sleep ?? ((ms, over) => pause(ms, undefined, { ...(over ? { signal: over } : {}) }));
  const ends = now() + timeoutMs;
  let last: Answer | undefined;
  let failures = 0;
  for (let pauseMs = Math.min(firstPauseMs, intervalMs); ; pauseMs = Math.min(pauseMs * 1.5, intervalMs)) {
    signal?.throwIfAborted();
    let asked: number | undefined;
    try {
      last = await read();
      failures = 0;
      options.onAnswer?.(last);
      if (options.isDone(last)) return last;
      asked = options.askedPauseMs?.(last);
    } catch (error) {
      signal?.throwIfAborted();
      failures += 1;
      if (!mayPass(error) || failures > outlivedFailures) throw error;
      options.onFailure?.(error);
      asked = error instanceof ServiceError ? error.retryAfterMs : undefined;
    }
    const left = ends - now();
    if (left <= 0) throw new StillRunningError(last);
    const next = Math.max(asked ?? 0, pauseMs * (0.75 + random() / 4));
    await sleepOrAbort(sleep(Math.min(next, left), signal), signal);
  }
}

async function sleepOrAbort(sleeping: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleeping;
  } finally {
    // The caller's own reason, not the sleep's word for it.
    signal?.throwIfAborted();
  }
}

/** A proxy's odd answer passes as well as a broken connection; what the service said about the request stays. */
function mayPass(error: unknown): error is ClientError {
  if (error instanceof ServiceError) return error.status === 429 || error.status >= 500;
  if (error instanceof NetworkError) return error.code !== 'tls';
  return error instanceof ClientError && !(error instanceof InvalidRequestError);
}
