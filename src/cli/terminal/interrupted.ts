import { once } from 'node:events';

/** What Ctrl-C and termination do to a command. */
export interface Interruption {
  /** Aborted by the first of them. */
  readonly signal: AbortSignal;
  /** How to go on later; printed when the command is interrupted. */
  hint: string | undefined;
  /** Leaves signals to what else listens for them, from now on. */
  ignore(): void;
}

/** Resolves when the signal is aborted. */
export async function untilInterrupted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Fails with the signal's reason when it is aborted. */
export async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  await untilInterrupted(signal);
  throw signal.reason;
}
