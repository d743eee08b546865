import { isIP } from 'node:net';
import { Agent, request } from 'undici';
import { isLoopbackAddress, isLoopbackHost, isPublicAddress } from './addresses.js';
import { checkedLookup } from './fetch-image.js';

const timeoutMs = 10_000;

export interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  /** The service's own base address: loopback is allowed where it is on loopback itself. */
  readonly serviceOrigin: string;
  readonly signal: AbortSignal;
}

export interface Delivered {
  readonly status: number;
  /** Seconds, where the receiver asks for a pause. */
  readonly retryAfter?: number;
}

// Decided: private, loopback and link-local addresses are refused after name resolution, and the address that was
// checked is the address that is used. A service on loopback allows loopback.
/**
 * Sends JSON to where a user wants it. Redirects are not followed.
 * @throws Error where nothing was answered
 */
export async function postWebhook(delivery: Delivery): Promise<Delivered> {
  const { url, headers, body, serviceOrigin, signal } = delivery;
  const target = new URL(url);
  const loopbackAllowed = isLoopbackHost(new URL(serviceOrigin).hostname);
  const allowed = (address: string) =>
    isPublicAddress(address) || (loopbackAllowed && isLoopbackAddress(address));
  const literal = target.hostname.replace(/^\[|\]$/g, '');
  // A literal is never looked up, so it is checked here.
  if (isIP(literal) && !allowed(literal)) throw new Error('The address is not public.');
  const agent = new Agent({ connect: { lookup: checkedLookup(allowed) }, connections: 1 });
  try {
    const answer = await request(target, {
      method: 'POST',
      dispatcher: agent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'regen' },
      body: JSON.stringify(body),
    });
    // Nothing of what is answered is of interest.
    answer.body.on('error', () => {}).destroy();
    const seconds = Number(answer.headers['retry-after']);
    return { status: answer.statusCode, ...(seconds > 0 && { retryAfter: seconds }) };
  } finally {
    await agent.destroy();
  }
}
