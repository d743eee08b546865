import { vi } from 'vitest';

/** Waits until a check passes. The limit only ends a test that hangs: a busy machine changes no verdict. */
export function waitFor<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, { timeout: 150_000, interval: 20 });
}
