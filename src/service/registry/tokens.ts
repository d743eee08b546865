import { randomUUID } from 'node:crypto';
import { createRandomToken, maskToken, parseTokenLimit, toExpiry } from '../auth/random-tokens.js';
import { deleteRows, findRow, insertRow, type Tx } from '../database/database.js';
import type { PersonalAccessTokenRow } from '../database/schema.js';
import type { Handlers, OperationAnswer, Read, Write } from '../operation/call.js';
import { requireCountQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import type { MemberCall } from './invitations.js';

// Decided: a token is shown once and stored as its SHA-256, with 4 characters to recognize it.
const createToken: Write<'publisher.token.create'> = async (call, tx) => {
  const { params, body, caller, context } = call;
  await requireCountQuota(tx, context, { publisherId: params.publisherId, quota: 'tokens' });
  const { token, prefix, hash } = createRandomToken('personal_access_tokens');
  const row: PersonalAccessTokenRow = {
    id: randomUUID(),
    publisher_id: params.publisherId,
    name: body.name,
    description: body.description ?? null,
    prefix,
    hash,
    nodes: body.nodes ? JSON.stringify(body.nodes) : null,
    created_by: caller.userId as string,
    created_at: new Date(context.now()).toISOString(),
    expires_at: toExpiry(body.expires_at, context.now()),
    last_used_at: null,
    trust_id: null,
    provenance: null,
    stage: null,
  };
  await insertRow(tx, 'personal_access_tokens', row);
  const event = { kind: 'token', id: row.id, publisherId: row.publisher_id } as const;
  await recordAction(call, tx, { ...event, action: 'token.create' });
  const maker = await findRow(tx, 'users', { id: row.created_by });
  return { ...viewToken({ ...row, email: maker?.email ?? null }), token };
};

const listTokens: Read<'publisher.token.list'> = async ({ params }, database) => {
  const rows = await database
    .selectFrom('personal_access_tokens')
    .innerJoin('users', 'users.id', 'personal_access_tokens.created_by')
    .selectAll('personal_access_tokens')
    .select('users.email')
    .where('publisher_id', '=', params.publisherId)
    .orderBy('personal_access_tokens.id')
    .execute();
  return rows.map(viewToken);
};

const revokeToken: Write<'publisher.token.revoke'> = async (call, tx) => {
  const { publisherId, tokenId } = call.params;
  const deleted = await deleteRows(tx, 'personal_access_tokens', { publisher_id: publisherId, id: tokenId });
  if (deleted === 0) throw new Refused('not_found', `The publisher ${publisherId} has no token ${tokenId}.`);
  await recordAction(call, tx, { kind: 'token', id: tokenId, publisherId, action: 'token.revoke' });
};

// Decided: a token ends with its maker's membership, and does not come back with it. The database removes it
// with the membership in any case; this also records it.
export async function revokeMemberTokens(call: MemberCall, tx: Tx): Promise<void> {
  const { publisherId, userId } = call.params;
  const revoked = await tx
    .deleteFrom('personal_access_tokens')
    .where('publisher_id', '=', publisherId)
    .where('created_by', '=', userId)
    .returning('id')
    .execute();
  for (const { id } of revoked) {
    const event = { kind: 'token', id, publisherId, action: 'token.revoke' } as const;
    await recordAction(call, tx, { ...event, reason: 'Its maker is no longer a member.' });
  }
}

function viewToken(
  row: PersonalAccessTokenRow & { readonly email: string | null },
): OperationAnswer<'publisher.token.create'> {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? undefined,
    token: maskToken('personal_access_tokens', row),
    nodes: parseTokenLimit(row.nodes),
    created_by: row.created_by,
    created_by_email: row.email ?? undefined,
    created_at: row.created_at,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at ?? undefined,
  };
}

export const tokenHandlers = {
  'publisher.token.create': { write: createToken },
  'publisher.token.list': { read: listTokens },
  'publisher.token.revoke': { write: revokeToken },
} satisfies Partial<Handlers>;
