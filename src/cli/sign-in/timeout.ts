import { Failure } from '../terminal/failure.js';

/**
 * Waits for the user to sign in, until the timeout or an interruption.
 * @throws Failure after the timeout
 */
export async function waitForUser<Result>(
  ms: number,
  signal: AbortSignal,
  wait: (either: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = AbortSignal.timeout(ms);
  try {
    return await wait(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    throw new Failure(`The sign-in timed out after ${Math.ceil(ms / 60_000)} minutes.`, {
      code: 'sign_in_timeout',
      hint: 'Run the command again to retry.',
    });
  }
}
