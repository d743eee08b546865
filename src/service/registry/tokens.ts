import { randomUUID } from 'node:crypto';
import { createPersonalAccessToken, maskToken } from '../auth/personal-access-tokens.js';
import type { Database, Tx } from '../database/database.js';
import type { PersonalAccessTokenRow } from '../database/schema.js';
import type { OperationAnswer, OperationCall } from '../operation/call.js';
import { Refused } from '../operation/refused.js';
import { recordAction } from './record-action.js';

// Decided: a token is shown once and stored as its SHA-256, with 4 characters to recognize it.
export async function createToken(
  call: OperationCall<'publisher.token.create'>,
  tx: Tx,
): Promise<OperationAnswer<'publisher.token.create'>> {
  const { params, body, caller, context } = call;
  const { token, prefix, hash } = createPersonalAccessToken();
  const row: PersonalAccessTokenRow = {
    id: randomUUID(),
    publisher_id: params.publisherId,
    name: body.name,
    description: body.description ?? null,
    prefix,
    hash,
    created_by: caller.userId as string,
    created_at: new Date(context.now()).toISOString(),
    expires_at: body.expires_at === undefined ? null : parseExpiry(body.expires_at, context.now()),
    last_used_at: null,
  };
  await tx.insertInto('personal_access_tokens').values(row).execute();
  await recordAction(call, tx, { kind: 'token', id: row.id, action: 'token.create' });
  return { ...viewToken(row), token };
}

function parseExpiry(text: string, now: number): string {
  const at = Date.parse(text);
  if (at > now) return new Date(at).toISOString();
  const message = 'must be in the future';
  throw new Refused('invalid_request', `expires_at ${message}.`, [{ path: 'expires_at', message }]);
}

export async function listTokens(
  { params }: OperationCall<'publisher.token.list'>,
  database: Database,
): Promise<OperationAnswer<'publisher.token.list'>> {
  const rows = await database
    .selectFrom('personal_access_tokens')
    .selectAll()
    .where('publisher_id', '=', params.publisherId)
    .orderBy('id')
    .execute();
  return rows.map(viewToken);
}

export async function revokeToken(call: OperationCall<'publisher.token.revoke'>, tx: Tx): Promise<undefined> {
  const { publisherId, tokenId } = call.params;
  const { numDeletedRows } = await tx
    .deleteFrom('personal_access_tokens')
    .where('publisher_id', '=', publisherId)
    .where('id', '=', tokenId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) {
    throw new Refused('not_found', `The publisher ${publisherId} has no token ${tokenId}.`);
  }
  await recordAction(call, tx, { kind: 'token', id: tokenId, action: 'token.revoke' });
}

function viewToken(row: PersonalAccessTokenRow): OperationAnswer<'publisher.token.create'> {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? undefined,
    token: maskToken(row),
    created_at: row.created_at,
    expires_at: row.expires_at ?? undefined,
    last_used_at: row.last_used_at ?? undefined,
  };
}
