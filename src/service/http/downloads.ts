import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { type ArchiveName, getArchiveKey } from '../operation/signed-urls.js';
import { getVisibleVersion, loadViewer } from '../registry/access.js';
import { authenticate } from './authenticate.js';
import { sendFile } from './send-file.js';

/** Adds GET and HEAD of every downloadUrl. */
export function routeDownloads(app: FastifyInstance, context: Context): void {
  app.route<{ Params: ArchiveName }>({
    method: ['GET', 'HEAD'],
    // Fastify's own HEAD would read the whole archive and discard it.
    exposeHeadRoute: false,
    url: '/archives/:publisherId/:nodeId/:version/node.zip',
    handler: (request, reply) => sendArchive(context, request, reply),
  });
}

async function sendArchive(
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
    key: getArchiveKey(params),
    type: 'application/zip',
    disposition: `attachment; filename="${params.nodeId}-${params.version}.zip"`,
    ...archive,
  });
}

interface ArchiveFile {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Hex; null until the archive is checked. */
  readonly tree: string | null;
}

// Decided: downloadUrl serves Active versions to anyone, and others only to members and admins.
async function findArchive(
  context: Context,
  name: ArchiveName,
  authorization?: string,
): Promise<ArchiveFile> {
  const caller = await authenticate(context, authorization);
  const viewer = await loadViewer(context.database, caller);
  const { node, version } = await getVisibleVersion(context.database, viewer, name.nodeId, name.version);
  const { archive_size: size, archive_sha256: sha256, archive_tree: tree } = version;
  if (node.publisher_id !== name.publisherId || size === null || sha256 === null) {
    throw new Refused('not_found', 'Archive not found.');
  }
  return { size, sha256, tree };
}
