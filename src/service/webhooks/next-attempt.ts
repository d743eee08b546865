import { backoffMs } from '../../wire/backoff.js';

// Decided: a delivery is retried for 24 hours, with pauses that double from a second to an hour. A receiver
// may ask for longer pauses but not for shorter ones. The last attempt is at the end of the 24 hours.
const TRIED_FOR_MS = 24 * 60 * 60_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60 * 60_000;

export interface NextAttemptOptions {
  /** Milliseconds since the epoch, as is `now`. */
  readonly created: number;
  readonly now: number;
  /** Including the one that just failed. */
  readonly attempts: number;
  /** The pause that the receiver asked for. Milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly random?: () => number;
}

/** @returns when a failed delivery is attempted next, in milliseconds; undefined if it is given up */
export function getNextAttemptTime({
  created,
  now,
  attempts,
  retryAfterMs = 0,
  random = Math.random,
}: NextAttemptOptions): number | undefined {
  const end = created + TRIED_FOR_MS;
  if (now >= end) return undefined;
  const backoff = backoffMs(attempts, { firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS, random });
  const pause = Math.max(backoff, retryAfterMs);
  return Math.min(now + pause, end);
}

/** No pause is longer; a longer one was set while the clock was ahead. */
export const MAX_WAIT_MS = TRIED_FOR_MS;
