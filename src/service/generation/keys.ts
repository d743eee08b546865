import type { Selectable } from 'kysely';
import { insertApiKey, listKeyOperations, maskKey } from '../auth/api-keys.js';
import { toExpiry } from '../auth/random-tokens.js';
import type { Database, Tx } from '../database/database.js';
import type { ApiKeyTable } from '../database/task-tables.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { requireKeyQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import { readKeyBudget } from './credits.js';

type ApiKey = OperationAnswer<'key.create'>;

// Decided: an API key is shown once and stored as its SHA-256, with 4 characters to recognize it.
async function createKey(call: OperationCall<'key.create'>, tx: Tx): Promise<ApiKey> {
  const { body, caller, context } = call;
  await requireKeyQuota(tx, context, caller.userId as string);
  const { row, token } = await insertApiKey(tx, {
    user_id: caller.userId as string,
    name: body.name,
    operations: body.operations ? JSON.stringify(body.operations) : null,
    credits_per_month: body.credits_per_month ?? null,
    created_at: new Date(context.now()).toISOString(),
    expires_at: toExpiry(body.expires_at, context.now()),
  });
  await recordAction(call, tx, { kind: 'api_key', id: row.id, action: 'api_key.create' });
  return { ...(await viewKey(tx, context, row)), token };
}

async function listKeys(
  { caller, context }: OperationCall<'key.list'>,
  database: Database,
): Promise<OperationAnswer<'key.list'>> {
  const rows = await database
    .selectFrom('api_keys')
    .selectAll()
    .where('user_id', '=', caller.userId as string)
    .where('revoked_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return Promise.all(rows.map((row) => viewKey(database, context, row)));
}

// Decided: admins may revoke the keys of all users, because a leaked key spends until it ends.
async function revokeKey(call: OperationCall<'key.revoke'>, tx: Tx): Promise<undefined> {
  const { params, caller, context } = call;
  const { numUpdatedRows } = await tx
    .updateTable('api_keys')
    .set({ revoked_at: new Date(context.now()).toISOString() })
    .where('id', '=', params.keyId)
    .where('revoked_at', 'is', null)
    .$if(!caller.admin, (of) => of.where('user_id', '=', caller.userId as string))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Refused('not_found', `There is no API key ${params.keyId}.`);
  await recordAction(call, tx, { kind: 'api_key', id: params.keyId, action: 'api_key.revoke' });
}

async function viewKey(database: Database, context: Context, row: Selectable<ApiKeyTable>): Promise<ApiKey> {
  return {
    id: row.id,
    name: row.name,
    token: maskKey(row),
    operations: listKeyOperations(row),
    budget: await readKeyBudget(database, context, row),
    created_at: row.created_at,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at ?? undefined,
  };
}

export const keyHandlers = {
  'key.create': { write: createKey },
  'key.list': { read: listKeys },
  'key.revoke': { write: revokeKey },
} satisfies Partial<Handlers>;
