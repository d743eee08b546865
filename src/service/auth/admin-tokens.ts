import { randomUUID } from 'node:crypto';
import { findRow, insertRow, type Tx } from '../database/database.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { isIssuedFor, MAX_TOKEN_SECONDS, signJwt, verifyJwt } from './tokens.js';

/** Differs from the audience of the service's other tokens, so that neither is accepted as the other. */
const ADMIN_AUDIENCE = 'regen-admin';
/** service.md 4.4.1: an hour. */
const LIFETIME_SECONDS = MAX_TOKEN_SECONDS;

export interface CreatedAdminToken {
  readonly token: string;
  readonly jti: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Creates an admin token for a user. It is valid as long as its row exists. */
export async function createAdminToken(
  tx: Tx,
  { keys, now }: Pick<Context, 'keys' | 'now'>,
  userId: string,
): Promise<CreatedAdminToken> {
  const at = now();
  const jti = randomUUID();
  const expiresAt = new Date((Math.floor(at / 1000) + LIFETIME_SECONDS) * 1000).toISOString();
  const created_at = new Date(at).toISOString();
  // The audit log keeps who created the expired ones.
  await tx.deleteFrom('admin_tokens').where('expires_at', '<=', created_at).execute();
  await insertRow(tx, 'admin_tokens', { jti, user_id: userId, created_at, expires_at: expiresAt });
  const token = await signJwt(
    { keys, now: () => at },
    { audience: ADMIN_AUDIENCE, subject: userId, jti, expiresInSeconds: LIFETIME_SECONDS },
  );
  return { token, jti, expiresAt };
}

/** Whether a token claims to be an admin token; not verified. */
export function isAdminToken(token: string): boolean {
  return isIssuedFor(token, ADMIN_AUDIENCE);
}

/** @throws Refused unauthenticated if it is expired, revoked or not signed by this service */
export async function findAdminToken(
  context: Pick<Context, 'database' | 'keys' | 'now'>,
  token: string,
): Promise<{ jti: string; userId: string; expiresAt: string }> {
  const { jti = '' } = await verifyJwt(context, token, ADMIN_AUDIENCE);
  const row = await findRow(context.database, 'admin_tokens', { jti });
  if (row) return { jti, userId: row.user_id, expiresAt: row.expires_at };
  throw new Refused('unauthenticated', 'The admin token was revoked; create a new one.');
}
