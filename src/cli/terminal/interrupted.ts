import { once } from 'node:events';

/** Ctrl-C and termination of a command. */
export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** How to resume later; printed if the command is interrupted. */
  hint: string | undefined;
  /** Stops listening, and leaves the signals to other listeners. */
  ignore(): void;
}

export async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Rejects with the signal's reason when it is aborted. */
export async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  await waitForAbort(signal);
  throw signal.reason;
}
