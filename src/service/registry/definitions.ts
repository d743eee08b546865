import type { FoundNode } from '../../pack/definitions/extract.js';
import type { Tx } from '../context.js';

export interface FoundDefinitions {
  readonly versionId: string;
  readonly nodeId: string;
  /** Absent: they could not be read. */
  readonly nodes: readonly Pick<FoundNode, 'name' | 'definition'>[] | undefined;
}

/** Longest name a path parameter can hold; a definition under a longer one could not be read singly. */
const longestName = 1024;

/**
 * Keeps the definitions of a version and its extract status.
 * @returns false, with nothing changed, where its extraction is no longer pending
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
    .filter(({ name }) => name !== '' && name.length <= longestName)
    .map(({ name, definition }) => ({
      version_id: versionId,
      node_id: nodeId,
      name,
      definition: JSON.stringify({ ...definition, host_node_name: name }),
      policy: definition.policy ?? 'HostNodePolicyActive',
    }));
  // In portions, because an engine takes only so many values in one statement.
  for (let start = 0; start < rows.length; start += 100) {
    await tx
      .insertInto('host_nodes')
      .values(rows.slice(start, start + 100))
      .onConflict((conflict) => conflict.columns(['version_id', 'name']).doNothing())
      .execute();
  }
  return true;
}

// Decided: a number registered again begins anew, without the definitions an admin stored for it before.
export async function forgetDefinitions(tx: Tx, versionId: string): Promise<void> {
  await tx.deleteFrom('host_nodes').where('version_id', '=', versionId).execute();
  await tx.updateTable('versions').set({ extract_status: 'pending' }).where('id', '=', versionId).execute();
}
