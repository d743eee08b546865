import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { type Database, findRow, insertRow, type Tx } from '../database/database.js';
import type { ApiKeyTable } from '../database/task-tables.js';
import { createRandomToken, hashToken, isWellFormed } from './random-tokens.js';

const KIND = 'regen_key_';

type ApiKeyRow = Selectable<ApiKeyTable>;

export function isApiKey(text: string): boolean {
  return text.startsWith(KIND);
}

export function maskKey({ prefix }: Pick<ApiKeyRow, 'prefix'>): string {
  return `${KIND}${prefix}****`;
}

/** Stores a new key. @returns its row, and the key itself, which is not kept */
export async function insertApiKey(
  tx: Tx,
  fields: Pick<
    ApiKeyRow,
    'user_id' | 'name' | 'operations' | 'credits_per_month' | 'created_at' | 'expires_at'
  >,
): Promise<{ readonly row: ApiKeyRow; readonly token: string }> {
  const { token, prefix, hash } = createRandomToken(KIND);
  const row = { ...fields, id: randomUUID(), prefix, hash, last_used_at: null, revoked_at: null };
  await insertRow(tx, 'api_keys', row);
  return { row, token };
}

/** @returns undefined if the key is unknown, revoked or expired */
export async function findApiKey(
  database: Database,
  token: string,
  now: number,
): Promise<ApiKeyRow | undefined> {
  if (!isWellFormed(KIND, token)) return undefined;
  const row = await findRow(database, 'api_keys', { hash: hashToken(token), revoked_at: null });
  return row && Date.parse(row.expires_at) <= now ? undefined : row;
}

/** The operations that a key may start; undefined if it may start all. */
export function listKeyOperations({ operations }: Pick<ApiKeyRow, 'operations'>): string[] | undefined {
  return operations === null ? undefined : (JSON.parse(operations) as string[]);
}
