import { WebAddress } from '../../contract/schema/values.js';
import { type FlagValues, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';
import type { Reply } from './inbox.js';

interface PostEventOptions {
  readonly headers: Record<string, string | string[]>;
  readonly body: Uint8Array | string;
  readonly signal: AbortSignal;
}

/** Sends one POST. Redirects are not followed. */
export async function postEvent(to: URL, options: PostEventOptions): Promise<Reply> {
  const { Agent, request } = await import('../../wire/undici.js');
  const agent = new Agent({ connections: 1 });
  try {
    const answer = await request(agent, to, { method: 'POST', ...options });
    // Only the status is needed.
    answer.body.on('error', () => {}).destroy();
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after']?.toString() };
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
