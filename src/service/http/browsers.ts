import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';

const exposed = [
  'x-request-id',
  'idempotency-key',
  'idempotent-replayed',
  'retry-after',
  'www-authenticate',
  'etag',
  'repr-digest',
  'x-archive-tree',
  'content-range',
  'accept-ranges',
].join(', ');

/**
 * Sets the headers that let pages of the configured origins read answers. No cookies, and never `*`.
 * @returns true where the request was a preflight, which is thereby answered
 */
// Decided: CORS for configured origins only.
export function crossOrigin(
  origins: ReadonlySet<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (origins.size === 0) return false;
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || !origins.has(origin)) return false;
  reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposed);
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
    return false;
  reply
    .header('access-control-allow-methods', 'GET, HEAD, POST, PUT, DELETE')
    .header('access-control-allow-headers', 'authorization, content-type, idempotency-key, range')
    .header('access-control-max-age', '600');
  return true;
}

function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

// Decided: a service on loopback refuses a Host that is not loopback, because a page whose name was pointed at
// 127.0.0.1 would otherwise speak with it as if it were its own. The host of `publicUrl` is accepted too.
/** @returns a check that throws Refused host_not_allowed */
export function hostCheck({
  configuration,
}: Pick<Context, 'configuration'>): (host: string | undefined) => void {
  const { host: listensOn, publicUrl } = configuration;
  if (!isLoopback(listensOn)) return () => {};
  const own = publicUrl && new URL(publicUrl).host;
  return (host) => {
    const name = /^(\[[\da-f:]+\]|[^:]+)(?::\d+)?$/i.exec(host ?? '')?.[1];
    if ((name && isLoopback(name)) || (own && host === own)) return;
    throw new Refused(
      'host_not_allowed',
      'This service listens on loopback; address it as 127.0.0.1 or localhost.',
    );
  };
}
