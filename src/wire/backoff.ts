export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The factor from each pause to the next. Default 2. */
  readonly factor?: number;
  readonly random?: () => number;
}

/**
 * The pause after a failed attempt. It grows with each attempt up to a maximum, with up to half of it as
 * jitter, so that clients that failed together do not retry together.
 * @param attempt how many attempts failed, from 1
 * @returns milliseconds
 */
export function backoffMs(
  attempt: number,
  { firstMs, maxMs, factor = 2, random = Math.random }: BackoffOptions,
): number {
  const full = Math.min(maxMs, firstMs * factor ** Math.min(attempt - 1, 64));
  return full * (0.5 + random() / 2);
}

/** Longer timers fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
