import type { Database } from '../database/database.js';
import { invalidField, Refused } from '../operation/refused.js';

/** Separators and look-alike characters, each with its replacement for comparing ids. */
const LOOK_ALIKES = Object.entries({
  ...{ '-': '', _: '', '.': '' },
  ...{ '0': 'o', '1': 'l', i: 'l', rn: 'm', vv: 'w' },
});

/** An id in the form in which it is compared with others. `toLikenessSql` of migrations.ts does the same in SQL. */
export function toPlainId(id: string): string {
  return LOOK_ALIKES.reduce((text, [from, to]) => text.replaceAll(from, to), id.toLowerCase());
}

/** Ids that speak for the service, also several of them together. */
const OFFICIAL_WORDS = [
  ...['admin', 'administrator', 'api', 'moderator', 'official', 'owner', 'regen', 'registry', 'root'],
  ...['security', 'service', 'staff', 'support', 'system'],
].map(toPlainId);
/** Says nothing by itself. */
const TEAM = toPlainId('team');
const OFFICIAL = toPlainId('official');

/** Names that are not valid for folders on Windows. */
const DEVICES = new Set(
  ['aux', 'con', 'nul', 'prn', ...listNumbered('com'), ...listNumbered('lpt')].map(toPlainId),
);

function listNumbered(device: string): string[] {
  return Array.from({ length: 9 }, (_, index) => `${device}${index + 1}`);
}

// Decided: only admins may register ids that speak for the service (`regen-security`, `support-team`), call something
// official, or are not valid folder names on Windows.
function isReserved(id: string): boolean {
  const plain = toPlainId(id);
  const hasOfficial = id.split(/[-_.]/).some((word) => toPlainId(word) === OFFICIAL);
  return hasOfficial || DEVICES.has(plain) || (plain !== '' && isOfficial(plain.replaceAll(TEAM, '')));
}

/** Whether a plain id consists of official words. */
function isOfficial(plain: string): boolean {
  return OFFICIAL_WORDS.some(
    (word) => plain === word || (plain.startsWith(word) && isOfficial(plain.slice(word.length))),
  );
}

interface NewId {
  readonly kind: 'node' | 'publisher';
  readonly id: string;
  readonly byAdmin: boolean;
}

// Decided: a new id must differ from every other in more than case, `-`, `_`, `.` and letters that look alike; ids that
// did not before this rule keep working.
/** @throws Refused duplicate_node or duplicate_publisher; invalid_request if the id is reserved */
export async function refuseLikeness(tx: Database, { kind, id, byAdmin }: NewId): Promise<void> {
  const plain = toPlainId(id);
  if (isReserved(id) && !byAdmin) {
    throw invalidField('id', 'is reserved; choose another', `The ${kind} id ${id}`);
  }
  const table = kind === 'node' ? 'nodes' : 'publishers';
  const like = await tx.selectFrom(table).select('id').where('plain_id', '=', plain).executeTakeFirst();
  if (!like) return;
  const taken = like.id === id ? 'is already taken' : `is too similar to ${like.id}, which is already taken`;
  throw new Refused(`duplicate_${kind}`, `The ${kind} id ${id} ${taken}; choose another.`);
}
