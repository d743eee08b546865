import { isIP } from 'node:net';
import { Agent, request } from 'undici';
import { isLoopbackAddress, isLoopbackHost, isPublicAddress } from '../generation/addresses.js';
import { checkedLookup, type Lookup, NotFetched, whyUnreachable } from '../generation/fetch-image.js';
import { retryAfterMs } from './pauses.js';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The service's own base address: loopback is allowed where it is on loopback itself. */
  readonly serviceOrigin: string;
  /** Aborted when the service ends. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly lookup?: Lookup | undefined;
  /** How long the receiver has to answer. */
  readonly timeoutMs?: number;
}

/** How one attempt ended. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** It will not be otherwise later: the receiver wants no more (410), or its address is not for webhooks. */
  | { readonly kind: 'gone' | 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: number | undefined };

/**
 * Sends a body to where a user wants it, once. Redirects are not followed.
 * @throws the signal's reason
 */
export async function post(asked: Post): Promise<Outcome> {
  const { timeoutMs = 10_000 } = asked;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await send(asked, AbortSignal.any([asked.signal, timeout]));
  } catch (error) {
    asked.signal.throwIfAborted();
    if (timeout.aborted) return { kind: 'failed', reason: `it did not answer within ${timeoutMs / 1000} s` };
    return { kind: error instanceof NotFetched ? 'refused' : 'failed', reason: whyUnreachable(error) };
  }
}

// Decided: private, loopback and link-local addresses are refused after name resolution, and the address that was
// checked is the address that is used. A service on loopback allows loopback. What is refused is not tried again.
async function send(
  { url, headers, body, serviceOrigin, now, lookup }: Post,
  signal: AbortSignal,
): Promise<Outcome> {
  const target = new URL(url);
  const loopbackAllowed = isLoopbackHost(new URL(serviceOrigin).hostname);
  const allowed = (address: string) =>
    isPublicAddress(address) || (loopbackAllowed && isLoopbackAddress(address));
  const literal = target.hostname.replace(/^\[|\]$/g, '');
  // A literal is never looked up, so it is checked here.
  if (isIP(literal) && !allowed(literal)) throw new NotFetched('its address is not public');
  const agent = new Agent({ connect: { lookup: checkedLookup(allowed, lookup) }, connections: 1 });
  try {
    const answer = await request(target, {
      method: 'POST',
      dispatcher: agent,
      signal,
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'regen' },
      body,
    });
    // Nothing of what is answered is of interest.
    answer.body.on('error', () => {}).destroy();
    return judged(answer.statusCode, retryAfterMs(answer.headers['retry-after']?.toString(), now()));
  } finally {
    await agent.destroy();
  }
}

function judged(status: number, retryAfter: number | undefined): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = `it answered ${status}`;
  return status === 410 ? { kind: 'gone', reason } : { kind: 'failed', reason, retryAfterMs: retryAfter };
}
