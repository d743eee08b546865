import { randomUUID } from 'node:crypto';
import type { Context, Tx } from '../context.js';
import { Refused } from '../refused.js';
import { isFor, longestTokenSeconds, sign, verified } from './tokens.js';

/** Another audience than that of the service's other tokens, so that neither passes for the other. */
const audience = 'regen-admin';
/** service.md 4.4.1: an hour. */
const lifeSeconds = longestTokenSeconds;

export interface NewAdminToken {
  readonly token: string;
  readonly jti: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Makes an admin token for a user. It is worth something as long as its row is there. */
export async function newAdminToken(
  tx: Tx,
  { keys, now }: Pick<Context, 'keys' | 'now'>,
  userId: string,
): Promise<NewAdminToken> {
  const at = now();
  const jti = randomUUID();
  const expiresAt = new Date((Math.floor(at / 1000) + lifeSeconds) * 1000).toISOString();
  const created_at = new Date(at).toISOString();
  // Ended ones are of no more use; who made them stays in the audit.
  await tx.deleteFrom('admin_tokens').where('expires_at', '<=', created_at).execute();
  await tx
    .insertInto('admin_tokens')
    .values({ jti, user_id: userId, created_at, expires_at: expiresAt })
    .execute();
  const token = await sign(
    { keys, now: () => at },
    { audience, subject: userId, jti, expiresInSeconds: lifeSeconds },
  );
  return { token, jti, expiresAt };
}

/** Whether the token claims to be an admin token. */
export function looksAdmin(token: string): boolean {
  return isFor(token, audience);
}

/** @throws Refused unauthenticated where it is expired, revoked or not the service's own */
export async function findAdminToken(
  context: Context,
  token: string,
): Promise<{ jti: string; userId: string; expiresAt: string }> {
  const { jti = '' } = await verified(context, token, audience);
  const row = await context.database
    .selectFrom('admin_tokens')
    .select(['jti', 'user_id as userId', 'expires_at as expiresAt'])
    .where('jti', '=', jti)
    .executeTakeFirst();
  if (row) return row;
  throw new Refused('unauthenticated', 'The admin token was revoked; make another.');
}
