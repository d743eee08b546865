import { createHash, timingSafeEqual } from 'node:crypto';
import { findAdminToken, looksAdmin } from '../auth/admin-tokens.js';
import type { Identity } from '../auth/identity.js';
import { findPersonalAccessToken, looksPersonal, noteUse, useIsOld } from '../auth/personal-access-tokens.js';
import { ownerUser, userOf } from '../auth/users.js';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';

/** Who sends a request. */
export interface Caller {
  readonly kind: 'none' | 'service' | 'owner' | 'personal_access_token' | 'identity_provider' | 'admin_token';
  /** The user; of a personal access token, the one who made it. Absent where the kind is `none`. */
  readonly userId?: string;
  readonly admin: boolean;
  /** Of a personal access token: the one publisher it is for. */
  readonly publisherId?: string;
  /** Of a personal access token or an admin token: its id. */
  readonly tokenId?: string;
  /** ISO 8601; absent where the credential does not expire. */
  readonly expiresAt?: string;
  /** Tells callers apart, for idempotency keys and rate limits. */
  readonly key: string;
}

const nobody: Caller = { kind: 'none', admin: false, key: 'none' };

/**
 * Who the Authorization header speaks for; `nobody` where there is none.
 * @throws Refused unauthenticated where there is a credential, but no valid one
 */
export async function authenticate(context: Context, authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return nobody;
  const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization)?.[1];
  if (!token) throw new Refused('unauthenticated', 'Send the credential as `Authorization: Bearer <token>`.');
  if (isOwner(context, token)) return person(await ownerUser(context), { kind: 'owner', admin: true });
  if (looksPersonal(token)) return personal(context, token);
  if (looksAdmin(token)) return adminToken(context, token);
  for (const verifier of context.verifiers) {
    const identity = await verifier(context, token);
    if (identity) return identified(context, identity);
  }
  throw new Refused('unauthenticated', 'The token is not one this service knows; sign in again.');
}

function isOwner({ keys }: Context, token: string): boolean {
  // Hashed first, because a comparison in constant time needs equal lengths.
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return keys.owner !== undefined && timingSafeEqual(digest(token), digest(keys.owner));
}

async function identified(context: Context, identity: Identity): Promise<Caller> {
  const { kind, admin, expiresAt } = identity;
  return person(await userOf(context, identity), {
    kind,
    admin,
    expiresAt: new Date(expiresAt * 1000).toISOString(),
  });
}

function person(userId: string, rest: Pick<Caller, 'kind' | 'admin' | 'expiresAt'>): Caller {
  return { ...rest, userId, key: `user:${userId}` };
}

async function personal(context: Context, token: string): Promise<Caller> {
  const row = await findPersonalAccessToken(context.database, token, context.now());
  if (!row) {
    throw new Refused('unauthenticated', 'The personal access token is unknown, expired or revoked.');
  }
  if (useIsOld(row, context.now())) {
    await context.database.transaction().execute((tx) => noteUse(tx, row, context.now));
  }
  return {
    kind: 'personal_access_token',
    userId: row.created_by,
    admin: false,
    publisherId: row.publisher_id,
    tokenId: row.id,
    ...(row.expires_at ? { expiresAt: row.expires_at } : {}),
    key: `token:${row.id}`,
  };
}

async function adminToken(context: Context, token: string): Promise<Caller> {
  const { jti, userId, expiresAt } = await findAdminToken(context, token);
  return { kind: 'admin_token', userId, admin: true, tokenId: jti, expiresAt, key: `admin:${jti}` };
}
