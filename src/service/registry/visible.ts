import type { Database } from '../context.js';
import { Refused } from '../refused.js';
import type { NodeRow } from './node-view.js';
import type { PublisherRow } from './publisher-view.js';
import { type Sight, seesInside } from './sight.js';
import type { VersionRow } from './version-view.js';

const noNode = (nodeId: string) => new Refused('not_found', `There is no node ${nodeId}.`);
export const noVersion = (nodeId: string, version: string) =>
  new Refused('not_found', `The node ${nodeId} has no version ${version}.`);

/** @throws Refused not_found; banned, where the caller is neither a member nor an admin */
export async function visiblePublisher(
  database: Database,
  sight: Sight,
  publisherId: string,
): Promise<PublisherRow> {
  const row = await database
    .selectFrom('publishers')
    .selectAll()
    .where('id', '=', publisherId)
    .executeTakeFirst();
  if (!row) throw new Refused('not_found', `There is no publisher ${publisherId}.`);
  if (row.status === 'PublisherStatusBanned' && !seesInside(sight, publisherId)) {
    throw new Refused('banned', `The publisher ${publisherId} is banned.`);
  }
  return row;
}

// Decided: what is hidden from a caller is 404; what is banned is 403, but readable for its members and admins.
/**
 * A node that the caller may see.
 * @throws Refused not_found where it is missing or, for strangers, deleted; banned where it or its publisher is
 */
export async function visibleNode(database: Database, sight: Sight, nodeId: string): Promise<NodeRow> {
  const row = await database
    .selectFrom('nodes')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .selectAll('nodes')
    .select('publishers.status as publisher_status')
    .where('nodes.id', '=', nodeId)
    .executeTakeFirst();
  if (!row) throw noNode(nodeId);
  if (seesInside(sight, row.publisher_id)) return row;
  if (row.status === 'NodeStatusDeleted') throw noNode(nodeId);
  if (isBanned(row)) throw new Refused('banned', `The node ${nodeId} is banned.`);
  return row;
}

/** Whether a node is hidden with 403, by its own status or its publisher's. */
export function isBanned(row: { readonly status: string; readonly publisher_status: string }): boolean {
  return row.status === 'NodeStatusBanned' || row.publisher_status === 'PublisherStatusBanned';
}

/**
 * A version, by its version string, that the caller may see.
 * @throws Refused as `visibleNode`; not_found where the version is missing or, for strangers, not Active
 */
export async function visibleVersion(
  database: Database,
  sight: Sight,
  nodeId: string,
  version: string,
): Promise<{ node: NodeRow; version: VersionRow }> {
  const node = await visibleNode(database, sight, nodeId);
  const row = await database
    .selectFrom('versions')
    .selectAll()
    .where('node_id', '=', node.id)
    .where('version', '=', version)
    .executeTakeFirst();
  const hidden = row?.status !== 'NodeVersionStatusActive' && !seesInside(sight, node.publisher_id);
  if (!row || hidden) throw noVersion(nodeId, version);
  return { node, version: row };
}
