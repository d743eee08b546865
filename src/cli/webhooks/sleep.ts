const TICK_MS = 5_000;
const SLEEP_THRESHOLD_MS = 30_000;

/**
 * Calls `wake` after this machine was asleep, because it may have missed webhooks.
 * @param now milliseconds since the epoch
 * @returns stops it
 */
export function afterSleep(now: () => number, wake: () => void): () => void {
  let last = now();
  const timer = setInterval(() => {
    const slept = now() - last > SLEEP_THRESHOLD_MS;
    last = now();
    if (slept) wake();
  }, TICK_MS);
  return () => clearInterval(timer);
}
