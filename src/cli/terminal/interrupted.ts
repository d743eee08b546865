import { once } from 'node:events';

/** Resolves when the signal is aborted. */
export async function interrupted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Fails with the signal's reason when it is aborted. */
export async function aborted(signal: AbortSignal): Promise<never> {
  await interrupted(signal);
  throw signal.reason;
}
