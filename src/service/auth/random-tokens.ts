import { createHash, randomBytes } from 'node:crypto';
import type { Tx } from '../database/database.js';
import { Refused } from '../operation/refused.js';

/** A secret of which the service keeps the hash and the first 4 random characters. */
export interface RandomToken {
  readonly token: string;
  readonly prefix: string;
  readonly hash: string;
}

/** @param kind how the token begins: `regen_pat_` */
export function createRandomToken(kind: string): RandomToken {
  const random = randomBytes(32).toString('base64url');
  const token = kind + random;
  return { token, prefix: random.slice(0, 4), hash: hashToken(token) };
}

/** Whether a text has the form of a token of this kind. */
export function isWellFormed(kind: string, text: string): boolean {
  return text.startsWith(kind) && /^[A-Za-z0-9_-]{43}$/.test(text.slice(kind.length));
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

export async function recordUse(
  tx: Tx,
  table: 'personal_access_tokens' | 'api_keys',
  id: string,
  now: number,
): Promise<void> {
  const last_used_at = new Date(now).toISOString();
  await tx.updateTable(table).set({ last_used_at }).where('id', '=', id).execute();
}

const LIFETIME_MS = 365 * 24 * 60 * 60_000;

// Decided: a token expires a year after it is created, unless another time is given.
/** @throws Refused invalid_request if the time is not in the future */
export function toExpiry(text: string | undefined, now: number): string {
  const at = text === undefined ? now + LIFETIME_MS : Date.parse(text);
  if (at > now) return new Date(at).toISOString();
  const message = 'must be in the future';
  throw new Refused('invalid_request', `expires_at ${message}.`, [{ path: 'expires_at', message }]);
}
