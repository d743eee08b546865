import { createHash, randomBytes } from 'node:crypto';
import { type Database, findRow, type Row, type Tx, updateRows } from '../database/database.js';
import { invalidField, Refused } from '../operation/refused.js';

const TOKEN_PREFIXES = { personal_access_tokens: 'regen_pat_', api_keys: 'regen_key_' } as const;

type TokenTable = keyof typeof TOKEN_PREFIXES;

/** Creates a secret of which the service keeps the hash and the first 4 random characters. */
export function createRandomToken(table: TokenTable): {
  readonly token: string;
  readonly prefix: string;
  readonly hash: string;
} {
  const random = randomBytes(32).toString('base64url');
  const token = TOKEN_PREFIXES[table] + random;
  return { token, prefix: random.slice(0, 4), hash: hashToken(token) };
}

/** Whether a text claims to be a token of a table. */
export function isRandomToken(table: TokenTable, text: string): boolean {
  return text.startsWith(TOKEN_PREFIXES[table]);
}

export function maskToken(table: TokenTable, { prefix }: { readonly prefix: string }): string {
  return `${TOKEN_PREFIXES[table]}${prefix}****`;
}

/** @returns undefined if the token is unknown, revoked or expired */
export async function findToken<Table extends TokenTable>(
  database: Database,
  table: Table,
  token: string,
  now: number,
): Promise<Row<Table> | undefined> {
  if (!/^regen_[a-z]+_[A-Za-z0-9_-]{43}$/.test(token) || !isRandomToken(table, token)) return undefined;
  const row: Row<TokenTable> | undefined = await findRow(database, table as TokenTable, {
    hash: hashToken(token),
  });
  const isRevoked = row && 'revoked_at' in row && row.revoked_at !== null;
  return row && !isRevoked && Date.parse(row.expires_at) > now ? (row as Row<Table>) : undefined;
}

/** Reads the nodes or operations that a token is limited to, as its row has them; undefined if it is not limited. */
export function parseTokenLimit(names: string | null): string[] | undefined {
  return names === null ? undefined : JSON.parse(names);
}

/** Whether a token that is limited to these nodes, or to none, covers a node; ids are compared without case. */
export function coversNode(nodes: readonly string[] | undefined, nodeId: string | undefined): boolean {
  if (nodes === undefined) return true;
  return nodeId !== undefined && nodes.some((node) => node.toLowerCase() === nodeId.toLowerCase());
}

/** @throws Refused node_not_allowed if a token is limited to other nodes */
export function refuseOtherNodes(nodes: readonly string[] | undefined, nodeId: string | undefined): void {
  if (coversNode(nodes, nodeId)) return;
  const known = nodes?.slice(0, 3).join(', ');
  const more = (nodes?.length ?? 0) > 3 ? ' and others' : '';
  throw new Refused(
    'node_not_allowed',
    `The personal access token is limited to ${known}${more}${nodeId === undefined ? '' : `; create one for ${nodeId}`}.`,
  );
}

/** SHA-256, hex. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The last use is written at most this often. */
const USE_INTERVAL_MS = 60_000;

export function isUseOutdated(row: { readonly last_used_at: string | null }, now: number): boolean {
  return row.last_used_at === null || now - Date.parse(row.last_used_at) >= USE_INTERVAL_MS;
}

export async function recordUse(tx: Tx, table: TokenTable, id: string, now: number): Promise<void> {
  const last_used_at = new Date(now).toISOString();
  await updateRows<TokenTable>(tx, table, { id }, { last_used_at });
}

const LIFETIME_MS = 365 * 24 * 60 * 60_000;

// Decided: a token expires a year after it is created, unless another time is given.
/**
 * @param seconds from now on, in place of the time
 * @throws Refused invalid_request if the time is not in the future
 */
export function toExpiry(text: string | undefined, now: number, seconds?: number): string {
  if (text !== undefined && seconds !== undefined)
    throw invalidField('expires_in', 'cannot be given together with expires_at');
  const lifetimeMs = seconds === undefined ? LIFETIME_MS : seconds * 1000;
  const at = text === undefined ? now + lifetimeMs : Date.parse(text);
  if (at > now) return new Date(at).toISOString();
  throw invalidField('expires_at', 'must be in the future');
}
