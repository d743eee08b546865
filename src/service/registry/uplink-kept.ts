import { type Database, findRow } from '../database/database.js';
import { compareVersions } from './version-order.js';
import type { NodeView, VersionView } from './views.js';

/** What is known of a node from the archives that were served, the newest first. */
export interface KeptNode {
  readonly node: NodeView;
  readonly versions: readonly VersionView[];
}

/** What is known of a node without the registry behind this one; undefined if none of its archives was served. */
export async function findKept(database: Database, nodeId: string): Promise<KeptNode | undefined> {
  const rows = await database
    .selectFrom('uplink_versions')
    .select(['version', 'node', 'details'])
    .where('node_id', '=', nodeId)
    .execute();
  const [newest, ...older] = rows.sort((one, other) => compareVersions(other.version, one.version));
  if (!newest) return undefined;
  return {
    node: JSON.parse(newest.node),
    versions: [newest, ...older].map(({ details }) => JSON.parse(details)),
  };
}

/** A version whose archive was served, as it was then. */
export async function findPinned(
  database: Database,
  nodeId: string,
  version: string,
): Promise<VersionView | undefined> {
  const row = await findRow(database, 'uplink_versions', { node_id: nodeId, version });
  return row && (JSON.parse(row.details) as VersionView);
}
