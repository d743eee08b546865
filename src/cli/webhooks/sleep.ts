const tickMs = 5_000;
const asleepMs = 30_000;

/**
 * Calls back whenever this machine was asleep: webhooks came to nobody meanwhile.
 * @param now milliseconds since the epoch
 * @returns ends it
 */
export function afterSleep(now: () => number, wake: () => void): () => void {
  let last = now();
  const timer = setInterval(() => {
    const slept = now() - last > asleepMs;
    last = now();
    if (slept) wake();
  }, tickMs);
  return () => clearInterval(timer);
}
