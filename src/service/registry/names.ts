import type { Database } from '../database/database.js';
import { invalidField, Refused } from '../operation/refused.js';

/** An id without what is easily overlooked. `toPlainSql` of migrations.ts does the same in SQL. */
export function toPlainId(id: string): string {
  return id.toLowerCase().replace(/[-_.]/g, '');
}

// Decided: only admins may register ids that speak for the service, or that are not valid folder names on Windows.
const RESERVED_IDS = new Set([
  ...['admin', 'administrator', 'api', 'moderator', 'official', 'owner', 'regen', 'registry', 'root'],
  ...['security', 'service', 'staff', 'support', 'system'],
  ...['aux', 'con', 'nul', 'prn', ...listNumbered('com'), ...listNumbered('lpt')],
]);

function listNumbered(device: string): string[] {
  return Array.from({ length: 9 }, (_, index) => `${device}${index + 1}`);
}

interface NewId {
  readonly kind: 'node' | 'publisher';
  readonly id: string;
  readonly byAdmin: boolean;
}

// Decided: a new id must differ from every other in more than case and `-`, `_`, `.`; ids that did not before
// this rule keep working.
/** @throws Refused duplicate_node or duplicate_publisher; invalid_request if the id is reserved */
export async function refuseLikeness(tx: Database, { kind, id, byAdmin }: NewId): Promise<void> {
  const plain = toPlainId(id);
  if (RESERVED_IDS.has(plain) && !byAdmin) {
    throw invalidField('id', 'is reserved; choose another', `The ${kind} id ${id}`);
  }
  const table = kind === 'node' ? 'nodes' : 'publishers';
  const like = await tx.selectFrom(table).select('id').where('plain_id', '=', plain).executeTakeFirst();
  if (!like) return;
  const taken = like.id === id ? 'is already taken' : `is too similar to ${like.id}, which is already taken`;
  throw new Refused(`duplicate_${kind}`, `The ${kind} id ${id} ${taken}; choose another.`);
}
