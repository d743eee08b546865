import { sql } from 'kysely';
import { executeBuilt, getRow, type Tx } from '../database/database.js';
import { refreshSearch } from './search-index.js';
import { addToTotal } from './totals.js';

/**
 * Marks the definitions that the list of all definitions includes: those of a node's latest version, while
 * node and publisher are Active. Call it after a change of these; the list then needs no joins and counts.
 */
export async function refreshListing(tx: Tx, nodeId: string): Promise<void> {
  const node = await getRow(tx, 'nodes', { id: nodeId });
  const publisher = await getRow(tx, 'publishers', { id: node.publisher_id });
  const isListed = node.status === 'NodeStatusActive' && publisher.status === 'PublisherStatusActive';
  const versionId = (isListed && node.latest_version_id) || '';
  const hidden = await executeBuilt(tx, 'hide host nodes', [nodeId, versionId], (node_id, version) =>
    tx
      .updateTable('host_nodes')
      .set({ listed: 0 })
      .where('node_id', '=', node_id)
      .where('listed', '=', sql.lit(1))
      .where('version_id', '!=', version),
  );
  const shown = await executeBuilt(tx, 'show host nodes', [versionId], (version) =>
    tx
      .updateTable('host_nodes')
      .set({ listed: 1 })
      .where('version_id', '=', version)
      .where('listed', '=', sql.lit(0)),
  );
  const change = Number(shown.numAffectedRows) - Number(hidden.numAffectedRows);
  await addToTotal(tx, 'host_nodes.listed', change);
}

/** Shows or hides a node and its definitions in all lists. Call it after a change of the node's status. */
export async function refreshNode(tx: Tx, nodeId: string): Promise<void> {
  await refreshListing(tx, nodeId);
  await refreshSearch(tx, nodeId);
}

/** `refreshNode` for every node of a publisher, after a change of the publisher's status. */
export async function refreshNodes(tx: Tx, publisherId: string): Promise<void> {
  const nodes = await tx.selectFrom('nodes').select('id').where('publisher_id', '=', publisherId).execute();
  for (const { id } of nodes) await refreshNode(tx, id);
}

/** Removes definitions, listed or not. */
export async function removeDefinitions(tx: Tx, versionId: string): Promise<void> {
  const ofVersion = tx.deleteFrom('host_nodes').where('version_id', '=', versionId);
  const { numDeletedRows } = await ofVersion.where('listed', '=', sql.lit(1)).executeTakeFirst();
  await ofVersion.execute();
  await addToTotal(tx, 'host_nodes.listed', -Number(numDeletedRows));
}
