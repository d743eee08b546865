import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';
import { requestedRange } from './ranges.js';

/** A stored object, as it is sent. */
export interface SentFile {
  /** In the storage. */
  readonly key: string;
  readonly type: string;
  readonly disposition: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

// Decided: Repr-Digest and X-Archive-Tree tell whether two archives are the same without reading them.
/** Answers a GET or HEAD of a file: whole, in part, or not at all where the client has it already. */
export async function sendFile(
  { storage }: Pick<Context, 'storage'>,
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
  { key, type, disposition, size, sha256 }: SentFile,
): Promise<FastifyReply> {
  const etag = `"${sha256}"`;
  reply
    .header('accept-ranges', 'bytes')
    .header('content-disposition', disposition)
    .header('etag', etag)
    .header('repr-digest', `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`);
  if (isKnown(headers['if-none-match'], etag)) return reply.code(304).send();
  const resumed = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = resumed ? requestedRange(headers.range, size) : undefined;
  if (range === 'outside') {
    reply.header('content-range', `bytes */${size}`);
    reply.removeHeader('content-disposition').removeHeader('repr-digest').removeHeader('etag');
    throw new Refused('range_not_satisfiable', `The range lies outside the ${size} bytes of the file.`);
  }
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  reply.type(type).header('content-length', range ? range.end - range.start + 1 : size);
  if (method === 'HEAD') return reply.send();
  return reply.send(await storage.read(key, range));
}

/** RFC 9110, 13.1.2: proxies that compress make an ETag a weak one, which is still the same here. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*');
}
