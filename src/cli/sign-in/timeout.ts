import { exitCodes, Failure } from '../terminal/failure.js';

/**
 * Waits for a person until a time is over or the command is interrupted.
 * @throws Failure after the time
 */
export async function withinTime<Result>(
  ms: number,
  signal: AbortSignal,
  wait: (either: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = AbortSignal.timeout(ms);
  try {
    return await wait(AbortSignal.any([signal, late]));
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
    throw new Failure(`Nobody signed in within ${Math.ceil(ms / 60_000)} minutes.`, {
      code: 'sign_in_timeout',
      exit: exitCodes.notAllowed,
      hint: 'Run the command again for a new try.',
    });
  }
}
