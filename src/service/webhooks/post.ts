import type { Lookup } from '../../wire/checked-lookup.js';
import { parseRetryAfter } from '../../wire/retry-after.js';
import { describeUnreachable } from '../network/fetch-media.js';
import { AddressRefused, createGuardedAgent, type OwnOrigin } from '../network/guarded-agent.js';
import { runWithin, TimedOut } from '../network/run-within.js';

export interface PostWebhookOptions extends OwnOrigin {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborted when the service stops. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly lookup?: Lookup | undefined;
  /** How long the receiver has to answer. Default: 10 s. */
  readonly timeoutMs?: number;
}

/** The result of one attempt. */
export type PostOutcome =
  | { readonly kind: 'delivered' }
  /** Retrying is pointless: the receiver answered 410, or its address is not allowed. */
  | { readonly kind: 'gone' | 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: number | undefined };

/**
 * Sends one POST to a URL that a user chose. Redirects are not followed.
 * @throws the signal's reason
 */
export async function postWebhook(options: PostWebhookOptions): Promise<PostOutcome> {
  const { timeoutMs = 10_000 } = options;
  try {
    return await runWithin(timeoutMs, options.signal, (signal) => sendPost(options, signal));
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof TimedOut)
      return { kind: 'failed', reason: `it did not answer within ${timeoutMs / 1000} s` };
    return {
      kind: error instanceof AddressRefused ? 'refused' : 'failed',
      reason: describeUnreachable(error),
    };
  }
}

async function sendPost(
  { url, headers, body, now, ...guard }: PostWebhookOptions,
  signal: AbortSignal,
): Promise<PostOutcome> {
  const target = new URL(url);
  const agent = await createGuardedAgent(target, guard);
  try {
    const { request } = await import('../../wire/undici.js');
    const answer = await request(agent, target, {
      method: 'POST',
      signal,
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'regen' },
      body,
    });
    // The body of the answer is not used.
    answer.body.on('error', () => {}).destroy();
    return classifyResponse(
      answer.statusCode,
      parseRetryAfter(answer.headers['retry-after']?.toString(), now()),
    );
  } finally {
    await agent.destroy();
  }
}

function classifyResponse(status: number, retryAfter: number | undefined): PostOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = `it answered ${status}`;
  return status === 410 ? { kind: 'gone', reason } : { kind: 'failed', reason, retryAfterMs: retryAfter };
}
