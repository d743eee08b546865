import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import type { Range } from '../storage/storage.js';

/** A stored object and the headers it is sent with. */
export interface SendFileOptions {
  readonly key: string;
  readonly type: string;
  readonly disposition: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

export interface ArchiveFile extends Pick<SendFileOptions, 'key' | 'size' | 'sha256'> {
  /** Hex; null until the archive is checked. */
  readonly tree: string | null;
}

const FIRST_BYTE: Range = { start: 0, end: 0 };
/** Larger files are streamed: many clients may be slow at the same time. */
const MAX_WHOLE_BYTES = 64 * 1024;

// Decided: Repr-Digest and X-Archive-Tree let clients compare archives without reading them.
/** Answers a GET or HEAD of a file: whole, a range, or 304 if the client has it already. */
export async function sendFile(
  { storage }: Pick<Context, 'storage'>,
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
  { key, type, disposition, size, sha256 }: SendFileOptions,
): Promise<FastifyReply> {
  const etag = `"${sha256}"`;
  reply.header('accept-ranges', 'bytes');
  if (matchesEtag(headers['if-none-match'], etag))
    return reply.code(304).header('content-disposition', disposition).header('etag', etag).send();
  const resumed = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = resumed ? parseRange(headers.range, size) : undefined;
  if (range === 'outside') {
    reply.header('content-range', `bytes */${size}`);
    throw new Refused('range_not_satisfiable', `The range is outside the ${size} bytes of the file.`);
  }
  if (method === 'GET' && storage.signDownload) {
    const url = await storage.signDownload(key, { type, disposition });
    return reply.header('cache-control', 'no-store').redirect(url);
  }
  const file = await readForAnswer(storage, key, { size, range, isHead: method === 'HEAD' });
  reply
    .header('content-disposition', disposition)
    .header('etag', etag)
    .header('repr-digest', `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`);
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  reply.type(type).header('content-length', range ? range.end - range.start + 1 : size);
  return reply.send(file);
}

async function readForAnswer(
  storage: Context['storage'],
  key: string,
  {
    size,
    range,
    isHead,
  }: { readonly size: number; readonly range: Range | undefined; readonly isHead: boolean },
): Promise<Readable | Buffer | undefined> {
  if (isHead) {
    // It must not promise a file that is missing.
    (await storage.read(key, FIRST_BYTE)).destroy();
    return undefined;
  }
  if (range || size > MAX_WHOLE_BYTES) return storage.read(key, range);
  const file = await storage.readWhole(key);
  if (file.length === size) return file;
  throw new Error(`The stored file ${key} has ${file.length} bytes instead of ${size}.`);
}

/** Answers with the archive of a version, which may be banned or deleted at any time. */
export function sendArchiveFile(
  context: Pick<Context, 'storage'>,
  request: FastifyRequest<{ Params: { nodeId: string; version: string } }>,
  reply: FastifyReply,
  { tree, ...file }: ArchiveFile,
): Promise<FastifyReply> {
  reply.header('cache-control', 'no-cache');
  if (tree) reply.header('x-archive-tree', `sha256=${tree}`);
  const { nodeId, version } = request.params;
  const disposition = `attachment; filename="${nodeId}-${version}.zip"`;
  return sendFile(context, request, reply, { type: 'application/zip', disposition, ...file });
}

/** RFC 9110, 13.1.2: proxies that compress make ETags weak, which still match here. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*');
}

/**
 * Parses the single byte range of a request (RFC 9110, 14.2).
 * @returns undefined if the whole file is to be sent: no range, several, or an invalid one; `outside` if the
 *   range covers nothing of the file
 */
export function parseRange(header: string | undefined, size: number): Range | 'outside' | undefined {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length > 0 ? { start: size - length, end: size - 1 } : 'outside';
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'outside';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
