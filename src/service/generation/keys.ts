import { randomUUID } from 'node:crypto';
import { createRandomToken, maskToken, parseTokenLimit, toExpiry } from '../auth/random-tokens.js';
import { type Database, findRow, findRows, insertRow, type Row, updateRows } from '../database/database.js';
import type { Handlers, OperationAnswer, Read, Write } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { requireUserQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import { readKeyBudget, readKeyTotal } from './credits.js';

type ApiKey = OperationAnswer<'key.create'>;

// Decided: an API key is shown once and stored as its SHA-256, with 4 characters to recognize it.
const createKey: Write<'key.create'> = async (call, tx) => {
  const { body, caller, context } = call;
  await requireUserQuota(tx, context, { userId: caller.userId as string, quota: 'keys' });
  const { token, prefix, hash } = createRandomToken('api_keys');
  const now = context.now();
  const row = {
    id: randomUUID(),
    user_id: caller.userId as string,
    name: body.name,
    prefix,
    hash,
    operations: body.operations ? JSON.stringify(body.operations) : null,
    credits_per_month: body.credits_per_month ?? null,
    created_at: new Date(now).toISOString(),
    credits: body.credits ?? null,
    expires_at: toExpiry(body.expires_at, now, body.expires_in),
    last_used_at: null,
    revoked_at: null,
  };
  await insertRow(tx, 'api_keys', row);
  await recordAction(call, tx, { kind: 'api_key', id: row.id, action: 'api_key.create' });
  return { ...(await viewKey(tx, context, row)), token };
};

const listKeys: Read<'key.list'> = async ({ caller, context }, database) => {
  const own = { user_id: caller.userId as string, revoked_at: null };
  const rows = await findRows(database, 'api_keys', own, ['created_at', 'id']);
  return Promise.all(rows.map((row) => viewKey(database, context, row)));
};

// Decided: a key can be extended for a day after it expired, so that one outlasts the sleep of the machine that extends it.
// Until then it counts for the quota.
const EXTENDED_MS = 24 * 60 * 60_000;

const updateKey: Write<'key.update'> = async (call, tx) => {
  const { params, body, caller, context } = call;
  const own = { id: params.keyId, revoked_at: null, user_id: caller.userId as string };
  const before = await findRow(tx, 'api_keys', own);
  if (!before) throw keyNotFound(params.keyId);
  if (Date.parse(before.expires_at) <= context.now() - EXTENDED_MS)
    throw new Refused('forbidden', 'This API key expired more than a day ago; create another one.');
  const expires_at = toExpiry(body.expires_at, context.now(), body.expires_in);
  await updateRows(tx, 'api_keys', own, { expires_at });
  const reason = `until ${expires_at}`;
  await recordAction(call, tx, { kind: 'api_key', id: params.keyId, action: 'api_key.update', reason });
  return viewKey(tx, context, { ...before, expires_at });
};

function keyNotFound(id: string): Refused {
  return new Refused('not_found', `There is no API key ${id}.`);
}

// Decided: admins may revoke the keys of all users, because a leaked key spends until it ends.
const revokeKey: Write<'key.revoke'> = async (call, tx) => {
  const { params, caller, context } = call;
  const current = { id: params.keyId, revoked_at: null };
  const own = caller.admin ? current : { ...current, user_id: caller.userId as string };
  const revoked_at = new Date(context.now()).toISOString();
  if ((await updateRows(tx, 'api_keys', own, { revoked_at })) === 0) throw keyNotFound(params.keyId);
  await recordAction(call, tx, { kind: 'api_key', id: params.keyId, action: 'api_key.revoke' });
};

async function viewKey(database: Database, context: Context, row: Row<'api_keys'>): Promise<ApiKey> {
  return {
    id: row.id,
    name: row.name,
    token: maskToken('api_keys', row),
    operations: parseTokenLimit(row.operations) as ApiKey['operations'],
    budget: await readKeyBudget(database, context, row),
    total: await readKeyTotal(database, row),
    created_at: row.created_at,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at ?? undefined,
  };
}

export const keyHandlers = {
  'key.create': { write: createKey },
  'key.list': { read: listKeys },
  'key.update': { write: updateKey },
  'key.revoke': { write: revokeKey },
} satisfies Partial<Handlers>;
