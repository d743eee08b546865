import { createAdminToken } from '../../auth/admin-tokens.js';
import type { Database, Tx } from '../../database/database.js';
import type { Handlers, OperationAnswer, OperationCall } from '../../operation/call.js';
import { recordAction } from '../../operation/record-action.js';
import { Refused } from '../../operation/refused.js';

async function generateAdminToken(
  call: OperationCall<'admin.generateToken'>,
  tx: Tx,
): Promise<OperationAnswer<'admin.generateToken'>> {
  const { token, jti, expiresAt } = await createAdminToken(tx, call.context, call.caller.userId as string);
  await recordAction(call, tx, { kind: 'admin_token', id: jti, action: 'admin_token.create' });
  return { expires_at: expiresAt, token };
}

async function listAdminTokens(
  { context }: OperationCall<'admin.token.list'>,
  database: Database,
): Promise<OperationAnswer<'admin.token.list'>> {
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

// Decided: a revoked admin token is deleted, like a personal access token; the audit log keeps that it was.
async function revokeAdminToken(call: OperationCall<'admin.token.revoke'>, tx: Tx): Promise<undefined> {
  const { jti } = call.params;
  const { numDeletedRows } = await tx.deleteFrom('admin_tokens').where('jti', '=', jti).executeTakeFirst();
  if (numDeletedRows === 0n) throw new Refused('not_found', `There is no admin token ${jti}.`);
  await recordAction(call, tx, { kind: 'admin_token', id: jti, action: 'admin_token.revoke' });
}

export const adminTokenHandlers = {
  'admin.generateToken': { write: generateAdminToken },
  'admin.token.list': { read: listAdminTokens },
  'admin.token.revoke': { write: revokeAdminToken },
} satisfies Partial<Handlers>;
