import { newAdminToken } from '../../auth/admin-tokens.js';
import type { Database, Tx } from '../../context.js';
import type { Answer, Call } from '../../http/handler.js';
import { Refused } from '../../refused.js';
import { record } from '../events.js';

export async function generateAdminToken(
  { caller, context }: Call<'admin.generateToken'>,
  tx: Tx,
): Promise<Answer<'admin.generateToken'>> {
  const actor = caller.userId as string;
  const { token, jti, expiresAt } = await newAdminToken(tx, context, actor);
  await record(tx, context.now, { actor, kind: 'admin_token', id: jti, action: 'admin_token.create' });
  return { expires_at: expiresAt, token };
}

export async function listAdminTokens(
  { context }: Call<'admin.token.list'>,
  database: Database,
): Promise<Answer<'admin.token.list'>> {
  const rows = await database
    .selectFrom('admin_tokens')
    .innerJoin('users', 'users.id', 'admin_tokens.user_id')
    .select(['jti', 'user_id', 'email', 'admin_tokens.created_at', 'expires_at'])
    .where('expires_at', '>', new Date(context.now()).toISOString())
    .orderBy('jti')
    .execute();
  return rows.map(({ jti, user_id: by, email, created_at, expires_at }) => ({
    jti,
    by,
    by_email: email ?? undefined,
    created_at,
    expires_at,
  }));
}

// Decided: a revoked admin token is forgotten, like a personal access token; that it was, the audit tells.
export async function revokeAdminToken(
  { params, caller, context }: Call<'admin.token.revoke'>,
  tx: Tx,
): Promise<undefined> {
  const { jti } = params;
  const { numDeletedRows } = await tx.deleteFrom('admin_tokens').where('jti', '=', jti).executeTakeFirst();
  if (numDeletedRows === 0n) throw new Refused('not_found', `There is no admin token ${jti}.`);
  const actor = caller.userId as string;
  await record(tx, context.now, { actor, kind: 'admin_token', id: jti, action: 'admin_token.revoke' });
}
