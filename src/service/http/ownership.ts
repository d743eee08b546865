import type { Database } from '../database/database.js';
import { getOwnNode } from '../registry/access.js';
import type { Concern } from './concern.js';

/** Paths of another service may name the publisher of a node where those of the contract do not. */
export function createOwnership(database: Database): Concern {
  return {
    applies: ({ operation: { params }, path }) =>
      path.includes('{publisherId}') && !('publisherId' in params.shape),
    onRequest: async ({ params }) => {
      const { publisherId, nodeId } = params as { publisherId: string; nodeId?: string };
      if (nodeId !== undefined) await getOwnNode(database, publisherId, nodeId);
    },
  };
}
