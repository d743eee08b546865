import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import type { Context } from '../operation/context.js';

const EXPOSED_HEADERS =
  'x-request-id, idempotency-key, idempotent-replayed, retry-after, www-authenticate, etag, repr-digest, x-archive-tree, content-range, accept-ranges';

/**
 * Sets the headers that let pages of the configured origins read answers. Never with cookies or `*`.
 * @returns true if the request was a preflight, which needs no other answer
 */
// Decided: CORS for configured origins only.
export function applyCors(
  origins: ReadonlySet<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (origins.size === 0) return false;
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || !origins.has(origin)) return false;
  reply
    .header('access-control-allow-origin', origin)
    .header('access-control-expose-headers', EXPOSED_HEADERS);
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
    return false;
  reply
    .header('access-control-allow-methods', 'GET, HEAD, POST, PUT, DELETE')
    .header('access-control-allow-headers', 'authorization, content-type, idempotency-key, range')
    .header('access-control-max-age', '600');
  return true;
}

// Decided: a service on loopback refuses other Host headers. Otherwise a web page whose domain resolves to
// 127.0.0.1 could call it as its own origin (DNS rebinding). The host of `publicUrl` is accepted too.
/** @returns whether a request with this Host header is accepted */
export function createHostCheck({
  configuration,
}: Pick<Context, 'configuration'>): (host: string | undefined) => boolean {
  const { host: listensOn, publicUrl } = configuration;
  if (!isLoopbackHost(listensOn)) return () => true;
  const own = publicUrl && new URL(publicUrl).host;
  return (host) => {
    const [, name, port = 0] = /^(\[[\da-f:]+\]|[^:]+)(?::(\d{1,5}))?$/i.exec(host ?? '') ?? [];
    if (Number(port) > 65_535) return false;
    return Boolean((name && isLoopbackHost(name)) || (own && host === own));
  };
}

const SINGLE_HEADERS = [
  'Host',
  'Authorization',
  'Idempotency-Key',
  'Content-Type',
  'Content-Range',
  'Range',
  'If-Range',
  'Origin',
];

/** Finds a header that appears twice and is not a list. A proxy may believe the other of two. */
export function findRepeatedHeader(
  { headersDistinct }: IncomingMessage,
  apiKeyHeader: string | undefined,
): string | undefined {
  const names = apiKeyHeader === undefined ? SINGLE_HEADERS : [...SINGLE_HEADERS, apiKeyHeader];
  return names.find((name) => (headersDistinct[name.toLowerCase()]?.length ?? 0) > 1);
}
