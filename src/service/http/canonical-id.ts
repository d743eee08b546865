import type { FastifyRequest } from 'fastify';
import type { Context } from '../operation/context.js';
import { isMissing } from '../operation/refused.js';
import { findNodeInAnySpelling, isInsider, openAccess } from '../registry/access.js';
import type { Concern } from './concern.js';

// Decided: a GET under /nodes/{nodeId} in another letter case is redirected with 302 to the registered id.
export const canonicalId: Concern = {
  applies: ({ operation }) => operation.method === 'GET' && 'nodeId' in operation.params.shape,
  around: async (call, next, { request, reply }) => {
    try {
      return await next(call);
    } catch (error) {
      const location = isMissing(error) && (await findCanonicalUrl(call.context, request));
      if (!location) throw error;
      return reply.redirect(location, 302);
    }
  },
};

/** @returns the path of the same request under the registered id; undefined if it has that id */
async function findCanonicalUrl(
  { database, baseUrl }: Pick<Context, 'database' | 'baseUrl'>,
  { params, url, caller }: FastifyRequest,
): Promise<string | undefined> {
  const { nodeId } = params as { nodeId: string };
  const [, folder, path] = /^((?:\/web)?\/nodes\/)(.*)/s.exec(url) ?? [];
  if (folder === undefined || path === undefined) return undefined;
  const node = await findNodeInAnySpelling(database, nodeId);
  if (!node || node.id === nodeId) return undefined;
  // The redirect would reveal a node that is 404 for this caller.
  if (node.status === 'NodeStatusDeleted') {
    const { viewer } = await openAccess({ caller, context: { baseUrl } }, database);
    if (!isInsider(viewer, node.publisher_id, node.id)) return undefined;
  }
  const prefix = new URL(baseUrl()).pathname.replace(/\/$/, '');
  return prefix + folder + path.replace(/^[^/?]*/, encodeURIComponent(node.id));
}
