interface Renewal {
  /** When to renew it first, in milliseconds since the epoch. */
  readonly firstAt: number;
  /** @returns when to renew it again */
  renew(signal: AbortSignal): Promise<number>;
  /** Called for each attempt that fails; it is repeated soon. */
  onFailure(error: unknown): Promise<void>;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

// Timers stand still while a machine sleeps, so the clock is checked often.
const CHECK_INTERVAL_MS = 30_000;

/** Renews a credential again and again, until `end` is called. */
export function keepRenewed({ firstAt, renew, onFailure, now, sleep }: Renewal): { end(): Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;
  const watching = (async () => {
    let dueAt = firstAt;
    while (!signal.aborted) {
      await sleep(CHECK_INTERVAL_MS, signal);
      if (signal.aborted || now() < dueAt) continue;
      try {
        dueAt = await renew(signal);
      } catch (error) {
        if (!signal.aborted) await onFailure(error);
      }
    }
  })();
  return {
    async end() {
      ending.abort();
      await watching;
    },
  };
}
