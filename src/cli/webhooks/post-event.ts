import { WebAddress } from '../../contract/schema/values.js';
import { type FlagValues, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';
import type { Reply } from './inbox.js';

interface PostEventOptions {
  readonly headers: Record<string, string | string[]>;
  readonly body: Uint8Array | string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Sends one POST. Redirects are not followed.
 * @throws Error with a sentence if it is not answered; the reason of the signal
 */
export async function postEvent(to: URL, { timeoutMs, ...options }: PostEventOptions): Promise<Reply> {
  const { Agent, request } = await import('../../wire/undici.js');
  const agent = new Agent({ connections: 1 });
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const signal = AbortSignal.any([options.signal, timeout]);
    const answer = await request(agent, to, { method: 'POST', ...options, signal });
    // Only the status is needed.
    answer.body.on('error', () => {}).destroy();
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after']?.toString() };
  } catch (error) {
    options.signal.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      timeout.aborted
        ? `${to.origin} did not answer within ${timeoutMs / 1000} s.`
        : `Could not reach ${to.origin} (${code ?? message}).`,
    );
  } finally {
    await agent.destroy();
  }
}

/** Reads a URL from a flag. @throws Failure if it is not an http(s) URL */
export function readAddress(flags: FlagValues, flag: 'forward-to' | 'public-url' | 'to'): string | undefined {
  const text = readText(flags, flag);
  if (text === undefined) return undefined;
  const checked = WebAddress.safeParse(text);
  // The value is not repeated, because it may hold a password.
  if (!checked.success) throw usage(`--${flag} ${checked.error.issues[0]?.message}.`);
  return text;
}
