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
