import { randomUUID } from 'node:crypto';
import {
  masked,
  newPersonalAccessToken,
  type PersonalAccessTokenRow,
} from '../auth/personal-access-tokens.js';
import type { Database, Tx } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { Refused } from '../refused.js';
import { record } from './events.js';

// Decided: a token is shown once and stored as its SHA-256, with 4 characters to know it by.
export async function createToken(
  { params, body, caller, context }: Call<'publisher.token.create'>,
  tx: Tx,
): Promise<Answer<'publisher.token.create'>> {
  const actor = caller.userId as string;
  const { token, prefix, hash } = newPersonalAccessToken();
  const row: PersonalAccessTokenRow = {
    id: randomUUID(),
    publisher_id: params.publisherId,
    name: body.name,
    description: body.description ?? null,
    prefix,
    hash,
    created_by: actor,
    created_at: new Date(context.now()).toISOString(),
    expires_at: body.expires_at === undefined ? null : expiry(body.expires_at, context.now()),
    last_used_at: null,
  };
  await tx.insertInto('personal_access_tokens').values(row).execute();
  await record(tx, context.now, { actor, kind: 'token', id: row.id, action: 'token.create' });
  return { ...tokenView(row), token };
}

function expiry(text: string, now: number): string {
  const at = Date.parse(text);
  if (at > now) return new Date(at).toISOString();
  const message = 'must lie in the future';
  throw new Refused('invalid_request', `expires_at ${message}.`, [{ path: 'expires_at', message }]);
}

export async function listTokens(
  { params }: Call<'publisher.token.list'>,
  database: Database,
): Promise<Answer<'publisher.token.list'>> {
  const rows = await database
    .selectFrom('personal_access_tokens')
    .selectAll()
    .where('publisher_id', '=', params.publisherId)
    .orderBy('id')
    .execute();
  return rows.map(tokenView);
}

export async function revokeToken(
  { params, caller, context }: Call<'publisher.token.revoke'>,
  tx: Tx,
): Promise<undefined> {
  const { numDeletedRows } = await tx
    .deleteFrom('personal_access_tokens')
    .where('publisher_id', '=', params.publisherId)
    .where('id', '=', params.tokenId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) {
    throw new Refused('not_found', `The publisher ${params.publisherId} has no token ${params.tokenId}.`);
  }
  const actor = caller.userId as string;
  await record(tx, context.now, { actor, kind: 'token', id: params.tokenId, action: 'token.revoke' });
}

function tokenView(row: PersonalAccessTokenRow): Answer<'publisher.token.create'> {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? undefined,
    token: masked(row),
    created_at: row.created_at,
    expires_at: row.expires_at ?? undefined,
    last_used_at: row.last_used_at ?? undefined,
  };
}
