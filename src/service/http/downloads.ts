import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';
import { authenticate, type Caller } from './authenticate.js';
import { requestedRange } from './ranges.js';
import { type ArchiveName, archiveKey } from './signed-urls.js';

/** Adds GET and HEAD of every downloadUrl. */
export function routeDownloads(app: FastifyInstance, context: Context): void {
  app.route<{ Params: ArchiveName }>({
    method: ['GET', 'HEAD'],
    // Fastify's own HEAD reads the whole archive to throw it away.
    exposeHeadRoute: false,
    url: '/archives/:publisherId/:nodeId/:version/node.zip',
    handler: (request, reply) => send(context, request, reply),
  });
}

async function send(
  context: Context,
  request: FastifyRequest<{ Params: ArchiveName }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { headers, params } = request;
  const archive = await findArchive(context, params, headers.authorization);
  describe(reply, params, archive);
  if (headers['if-none-match']?.split(/\s*,\s*/).includes(etag(archive))) return reply.code(304).send();
  const resumed = headers['if-range'] === undefined || headers['if-range'] === etag(archive);
  const range = resumed ? requestedRange(headers.range, archive.size) : undefined;
  if (range === 'outside') {
    reply.header('content-range', `bytes */${archive.size}`);
    reply.removeHeader('content-disposition').removeHeader('repr-digest').removeHeader('etag');
    throw new Refused('range_not_satisfiable', `The range lies outside the ${archive.size} bytes of the file.`);
  }
  if (range) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${archive.size}`);
  }
  reply.type('application/zip').header('content-length', range ? range.end - range.start + 1 : archive.size);
  if (request.method === 'HEAD') return reply.send();
  return reply.send(await context.storage.read(archiveKey(params), range));
}

interface Archive {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Hex; absent until the archive is checked. */
  readonly tree: string | null;
}

// Decided: downloadUrl serves Active versions to anyone, others to the publisher's members and admins; else 404.
async function findArchive(
  context: Context,
  name: ArchiveName,
  authorization: string | undefined,
): Promise<Archive> {
  const caller = await authenticate(context, authorization);
  const row = await context.database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .select([
      'archive_size as size',
      'archive_sha256 as sha256',
      'archive_tree as tree',
      'versions.status as version_status',
      'nodes.status as node_status',
      'publishers.status as publisher_status',
    ])
    .where('nodes.publisher_id', '=', name.publisherId)
    .where('versions.node_id', '=', name.nodeId)
    .where('versions.version', '=', name.version)
    .executeTakeFirst();
  const open =
    row?.version_status === 'NodeVersionStatusActive' &&
    row.node_status === 'NodeStatusActive' &&
    row.publisher_status === 'PublisherStatusActive';
  const { size, sha256, tree } = row ?? {};
  if (typeof size !== 'number' || !sha256 || !(open || (await seesDrafts(context, caller, name.publisherId)))) {
    throw new Refused('not_found', 'There is no such archive, or it is hidden from this caller.');
  }
  return { size, sha256, tree: tree ?? null };
}

async function seesDrafts({ database }: Context, caller: Caller, publisherId: string): Promise<boolean> {
  if (caller.admin) return true;
  if (caller.publisherId !== undefined) return caller.publisherId === publisherId;
  if (caller.userId === undefined) return false;
  const membership = await database
    .selectFrom('members')
    .select('role')
    .where('publisher_id', '=', publisherId)
    .where('user_id', '=', caller.userId)
    .executeTakeFirst();
  return membership !== undefined;
}

// Decided: Repr-Digest and X-Archive-Tree tell whether two archives are the same without reading them.
function describe(reply: FastifyReply, { nodeId, version }: ArchiveName, archive: Archive): void {
  reply
    .header('accept-ranges', 'bytes')
    // A version may be banned or deleted at any time.
    .header('cache-control', 'no-cache')
    .header('content-disposition', `attachment; filename="${nodeId}-${version}.zip"`)
    .header('etag', etag(archive))
    .header('repr-digest', `sha-256=:${Buffer.from(archive.sha256, 'hex').toString('base64')}:`);
  if (archive.tree) reply.header('x-archive-tree', `sha256=${archive.tree}`);
}

function etag({ sha256 }: Archive): string {
  return `"${sha256}"`;
}
