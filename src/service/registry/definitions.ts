import type { FoundNode } from '../../python/definitions/definitions.js';
import type { Tx } from '../database/database.js';
import { refreshListing, removeDefinitions } from './listed-host-nodes.js';

export interface FoundDefinitions {
  readonly versionId: string;
  readonly nodeId: string;
  /** Absent if extraction failed. */
  readonly nodes: readonly Pick<FoundNode, 'name' | 'definition'>[] | undefined;
}

/** The limit of a path parameter: a definition with a longer name could not be requested. */
const MAX_NAME_CHARACTERS = 1024;

/**
 * Stores the definitions of a version and sets its extract status.
 * @returns false, with nothing changed, if its extraction is not pending
 */
export async function storeDefinitions(
  tx: Tx,
  { versionId, nodeId, nodes }: FoundDefinitions,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('versions')
    .set({ extract_status: nodes ? 'success' : 'failed' })
    .where('id', '=', versionId)
    .where('extract_status', '=', 'pending')
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  const rows = (nodes ?? [])
    .map(({ name, definition }) => ({ name: name.replaceAll('\0', '').toWellFormed(), definition }))
    .filter(({ name }) => name !== '' && name.length <= MAX_NAME_CHARACTERS)
    .map(({ name, definition }) => ({
      version_id: versionId,
      node_id: nodeId,
      name,
      definition: JSON.stringify({ ...definition, host_node_name: name }),
      policy: definition.policy ?? 'HostNodePolicyActive',
    }));
  // In batches, because databases limit the values in one statement.
  for (let start = 0; start < rows.length; start += 100) {
    await tx
      .insertInto('host_nodes')
      .values(rows.slice(start, start + 100))
      .onConflict((conflict) => conflict.columns(['version_id', 'name']).doNothing())
      .execute();
  }
  await refreshListing(tx, nodeId);
  return true;
}

// Decided: a version number that is registered again starts without the definitions stored before.
export async function forgetDefinitions(tx: Tx, versionId: string): Promise<void> {
  await removeDefinitions(tx, versionId);
  await tx.updateTable('versions').set({ extract_status: 'pending' }).where('id', '=', versionId).execute();
}
