import { type Database, getRow, type Tx } from '../database/database.js';

/** Counts that are kept in the transactions that change them. */
export type TotalName = 'changes.place' | 'host_nodes.listed' | 'nodes.found' | 'nodes.searchRevision';

export async function readTotal(database: Database, name: TotalName): Promise<number> {
  const total = await getRow(database, 'totals', { name });
  return Number(total.value);
}

export async function addToTotal(tx: Tx, name: TotalName, change: number): Promise<void> {
  if (change === 0) return;
  await tx
    .updateTable('totals')
    .set(({ eb }) => ({ value: eb('value', '+', change) }))
    .where('name', '=', name)
    .execute();
}
