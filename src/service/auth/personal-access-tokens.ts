import { createHash, randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Context, Database, Tx } from '../context.js';
import type { PersonalAccessTokenTable } from '../database/schema.js';

const start = 'regen_pat_';
const form = /^regen_pat_[A-Za-z0-9_-]{43}$/;
/** The last use is written at most so often; milliseconds. */
const useWrittenEvery = 60_000;

export type PersonalAccessTokenRow = Selectable<PersonalAccessTokenTable>;

export function newPersonalAccessToken(): { token: string; prefix: string; hash: string } {
  const random = randomBytes(32).toString('base64url');
  const token = start + random;
  return { token, prefix: random.slice(0, 4), hash: hashOf(token) };
}

export function masked({ prefix }: Pick<PersonalAccessTokenRow, 'prefix'>): string {
  return `${start}${prefix}****`;
}

export function looksPersonal(text: string): boolean {
  return text.startsWith(start);
}

/** @returns undefined where the token is unknown, revoked or expired */
export async function findPersonalAccessToken(
  database: Database,
  token: string,
  now: number,
): Promise<PersonalAccessTokenRow | undefined> {
  if (!form.test(token)) return undefined;
  const row = await database
    .selectFrom('personal_access_tokens')
    .selectAll()
    .where('hash', '=', hashOf(token))
    .executeTakeFirst();
  return row?.expires_at && Date.parse(row.expires_at) <= now ? undefined : row;
}

export function useIsOld({ last_used_at }: PersonalAccessTokenRow, now: number): boolean {
  return last_used_at === null || now - Date.parse(last_used_at) >= useWrittenEvery;
}

export async function noteUse(tx: Tx, { id }: PersonalAccessTokenRow, now: Context['now']): Promise<void> {
  await tx
    .updateTable('personal_access_tokens')
    .set({ last_used_at: new Date(now()).toISOString() })
    .where('id', '=', id)
    .execute();
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
