import { createHash, randomBytes } from 'node:crypto';
import type { Database, Tx } from '../database/database.js';
import type { PersonalAccessTokenRow } from '../database/schema.js';
import type { Context } from '../operation/context.js';

const TOKEN_PREFIX = 'regen_pat_';
const TOKEN_PATTERN = /^regen_pat_[A-Za-z0-9_-]{43}$/;
/** The last use is written at most this often. */
const USE_INTERVAL_MS = 60_000;

export function createPersonalAccessToken(): { token: string; prefix: string; hash: string } {
  const random = randomBytes(32).toString('base64url');
  const token = TOKEN_PREFIX + random;
  return { token, prefix: random.slice(0, 4), hash: hashToken(token) };
}

export function maskToken({ prefix }: Pick<PersonalAccessTokenRow, 'prefix'>): string {
  return `${TOKEN_PREFIX}${prefix}****`;
}

export function isPersonalAccessToken(text: string): boolean {
  return text.startsWith(TOKEN_PREFIX);
}

/** @returns undefined if the token is unknown, revoked or expired */
export async function findPersonalAccessToken(
  database: Database,
  token: string,
  now: number,
): Promise<PersonalAccessTokenRow | undefined> {
  if (!TOKEN_PATTERN.test(token)) return undefined;
  const row = await database
    .selectFrom('personal_access_tokens')
    .selectAll()
    .where('hash', '=', hashToken(token))
    .executeTakeFirst();
  return row?.expires_at && Date.parse(row.expires_at) <= now ? undefined : row;
}

export function isUseOutdated({ last_used_at }: PersonalAccessTokenRow, now: number): boolean {
  return last_used_at === null || now - Date.parse(last_used_at) >= USE_INTERVAL_MS;
}

export async function recordUse(tx: Tx, { id }: PersonalAccessTokenRow, now: Context['now']): Promise<void> {
  await tx
    .updateTable('personal_access_tokens')
    .set({ last_used_at: new Date(now()).toISOString() })
    .where('id', '=', id)
    .execute();
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
