import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';
import { sightOf } from '../registry/sight.js';
import { visibleVersion } from '../registry/visible.js';
import { authenticate } from './authenticate.js';
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
    throw new Refused(
      'range_not_satisfiable',
      `The range lies outside the ${archive.size} bytes of the file.`,
    );
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
  const sight = await sightOf(context.database, caller);
  const { node, version } = await visibleVersion(context.database, sight, name.nodeId, name.version);
  const { archive_size: size, archive_sha256: sha256, archive_tree: tree } = version;
  if (node.publisher_id !== name.publisherId || size === null || sha256 === null) {
    throw new Refused('not_found', 'There is no such archive.');
  }
  return { size, sha256, tree };
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
