// Decided: a delivery is tried for 24 hours, with pauses that double from a second to an hour. Where the receiver asks
// for a longer one it gets it; a shorter one would let it be asked without end. What is due only after the 24 hours is
// tried at their end, once.
const triedForMs = 24 * 60 * 60_000;
const firstPauseMs = 1_000;
const longestPauseMs = 60 * 60_000;

export interface Tried {
  /** Milliseconds since the epoch, as all of these. */
  readonly created: number;
  readonly now: number;
  /** With the one that just failed. */
  readonly attempts: number;
  /** How long the receiver asks to wait. Milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly random?: () => number;
}

/** When a delivery that failed is tried next; undefined where it is given up. */
export function nextAttempt({
  created,
  now,
  attempts,
  retryAfterMs = 0,
  random = Math.random,
}: Tried): number | undefined {
  const end = created + triedForMs;
  if (now >= end) return undefined;
  const grown = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempts - 1, 20));
  const pause = Math.max(grown * (0.5 + random() / 2), retryAfterMs);
  return Math.min(now + pause, end);
}

/** No pause is longer, so that one which a clock that was ahead has made is known by it. */
export const longestWaitMs = triedForMs;

/**
 * The header Retry-After: seconds, or the date of an HTTP answer. Milliseconds; undefined where it is absent or neither.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // What begins with a digit is a date to JavaScript alone.
  const date = /^[A-Z][a-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
