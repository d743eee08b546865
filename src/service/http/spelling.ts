import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { nodeInAnySpelling } from '../registry/own.js';
import { seesInside, sightOf } from '../registry/sight.js';

// Decided: a GET under /nodes/{nodeId} in another spelling of the id is sent to the right one with 302.
/** @returns where the same request is answered, without a host; undefined where the spelling is right, unknown or hidden */
export async function otherSpelling(
  { database, baseUrl }: Context,
  { params, url, caller }: FastifyRequest,
): Promise<string | undefined> {
  const { nodeId } = params as { nodeId?: string };
  if (nodeId === undefined || !url.startsWith('/nodes/')) return undefined;
  const node = await nodeInAnySpelling(database, nodeId);
  if (!node || node.id === nodeId) return undefined;
  // The redirect would tell of what is 404 for this caller.
  const hidden = node.status === 'NodeStatusDeleted';
  if (hidden && !seesInside(await sightOf(database, caller), node.publisher_id)) return undefined;
  const [, , , ...rest] = url.split('/');
  const query = rest.length === 0 && url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const prefix = new URL(baseUrl()).pathname.replace(/\/$/, '');
  return [`${prefix}/nodes/${encodeURIComponent(node.id)}${query}`, ...rest].join('/');
}
