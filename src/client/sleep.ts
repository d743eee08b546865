import { setTimeout } from 'node:timers/promises';
import { MAX_TIMER_MS } from '../wire/backoff.js';

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

const sleepOnTimer: Sleep = (ms, signal) =>
  setTimeout(Math.min(ms, MAX_TIMER_MS), undefined, signal ? { signal } : {});

/**
 * Sleeps until the time is over or the signal aborts.
 * @param sleep replaces the timer, in tests
 * @throws the reason of the signal
 */
export async function sleepOrAbort(
  ms: number,
  signal: AbortSignal | undefined,
  sleep: Sleep = sleepOnTimer,
): Promise<void> {
  try {
    await sleep(ms, signal);
  } finally {
    // The reason of the caller, not the one that sleep reports.
    signal?.throwIfAborted();
  }
}
