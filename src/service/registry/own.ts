import type { Database } from '../context.js';
import { Refused } from '../refused.js';
import type { NodeRow } from './node-view.js';
import type { VersionRow } from './version-view.js';
import { noVersion } from './visible.js';

/** Ids are compared without regard to case in this form. */
export function foldId(nodeId: string): string {
  return nodeId.toLowerCase();
}

/** The node with this id in any spelling, of any publisher and status. */
export function nodeInAnySpelling(database: Database, nodeId: string): Promise<NodeRow | undefined> {
  return database.selectFrom('nodes').selectAll().where('folded_id', '=', foldId(nodeId)).executeTakeFirst();
}

/**
 * A node of a publisher, to be written or looked into by its members.
 * @throws Refused not_found
 */
export async function ownNode(database: Database, publisherId: string, nodeId: string): Promise<NodeRow> {
  const node = await nodeInAnySpelling(database, nodeId);
  if (!node || node.publisher_id !== publisherId) {
    throw new Refused('not_found', `The publisher ${publisherId} has no node ${nodeId}.`);
  }
  if (node.id !== nodeId) {
    throw new Refused('not_found', `There is no node ${nodeId}; this one is spelled ${node.id}.`);
  }
  return node;
}

// Decided: while a node is banned nothing of it is changed, by its members neither.
export function refuseBanned({ id, status, status_detail }: NodeRow): void {
  if (status !== 'NodeStatusBanned') return;
  throw new Refused('banned', `The node ${id} is banned${status_detail ? `: ${status_detail}` : ''}.`);
}

export function refuseDeleted({ id, status }: NodeRow): void {
  if (status !== 'NodeStatusDeleted') return;
  throw new Refused('node_deleted', `The node ${id} was deleted, and its id is not given out again.`);
}

// Decided: {versionId} is NodeVersion.id, and the version string is accepted too.
/** @throws Refused not_found, also where the version is of another node or publisher */
export async function ownVersion(
  database: Database,
  params: { readonly publisherId: string; readonly nodeId: string; readonly versionId: string },
): Promise<{ node: NodeRow; version: VersionRow }> {
  const node = await ownNode(database, params.publisherId, params.nodeId);
  const version = await database
    .selectFrom('versions')
    .selectAll()
    .where('node_id', '=', node.id)
    .where((column) =>
      column.or([column('id', '=', params.versionId), column('version', '=', params.versionId)]),
    )
    .executeTakeFirst();
  if (!version) throw noVersion(node.id, params.versionId);
  return { node, version };
}
