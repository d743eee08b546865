import { backoffMs } from '../../../wire/backoff.js';

/** A machine that slept for a day, or was not connected, has hardly asked. */
export const MIN_FAILURES = 5;
/** Each pause is half of the time so far, up to 15 times the first. */
const GROWTH = 0.5;
const MAX_GROWTH = 15;

export function getLongestPauseMs(pollMs: number): number {
  return pollMs * MAX_GROWTH;
}

/** How long to wait before the next look at a task. */
export function getPauseMs(pollMs: number, soFarMs: number): number {
  const maxMs = Math.min(Math.max(soFarMs * GROWTH, pollMs), getLongestPauseMs(pollMs));
  return backoffMs(1, { firstMs: maxMs, maxMs });
}
