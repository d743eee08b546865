import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';
import { sightOf } from '../registry/sight.js';
import { visibleVersion } from '../registry/visible.js';
import { authenticate } from './authenticate.js';
import { sendFile } from './send-file.js';
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
  // A version may be banned or deleted at any time.
  reply.header('cache-control', 'no-cache');
  if (archive.tree) reply.header('x-archive-tree', `sha256=${archive.tree}`);
  return sendFile(context, request, reply, {
    key: archiveKey(params),
    type: 'application/zip',
    disposition: `attachment; filename="${params.nodeId}-${params.version}.zip"`,
    ...archive,
  });
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
