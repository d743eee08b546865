import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import type { ArchiveName } from '../operation/signed-urls.js';
import { getVisibleVersion, openAccess } from '../registry/access.js';
import { authenticateReader } from './authenticate.js';
import { admitCaller, type RateLimit } from './rate-limit.js';
import { type ArchiveFile, sendArchiveFile } from './send-file.js';
import { routeUplinkArchives } from './uplink-archives.js';

/** Adds GET and HEAD of every downloadUrl, those for the archives of the uplink included. */
export function routeDownloads(app: FastifyInstance, context: Context, takeRequest: RateLimit): void {
  const admit = (request: FastifyRequest) =>
    admitCaller(takeRequest, request, () => authenticateReader(context, request));
  app.route<{ Params: ArchiveName }>({
    method: ['GET', 'HEAD'],
    // Fastify's own HEAD would read the whole archive and discard it.
    exposeHeadRoute: false,
    url: '/archives/:publisherId/:nodeId/:version/node.zip',
    config: { countsCallers: true },
    handler: async (request, reply) => {
      const archive = await findArchive(context, request.params, await admit(request));
      return sendArchiveFile(context, request, reply, archive);
    },
  });
  routeUplinkArchives(app, context, admit);
}

// Decided: downloadUrl serves Active versions to anyone, and others only to members and admins.
async function findArchive(context: Context, name: ArchiveName, caller: Caller): Promise<ArchiveFile> {
  const access = await openAccess({ caller, context }, context.database);
  const { node, version } = await getVisibleVersion(access, name);
  const { archive_size: size, archive_sha256: sha256, archive_tree: tree, archive_key: key } = version;
  if (node.publisher_id !== name.publisherId || size === null || sha256 === null || key === null)
    throw new Refused('not_found', 'Archive not found.');
  return { key, size, sha256, tree };
}
