import type { FastifyRequest } from 'fastify';
import { isSameSecret } from '../../wire/same-secret.js';
import { findAdminToken, isAdminToken } from '../auth/admin-tokens.js';
import { findSession } from '../auth/page-sessions.js';
import {
  findToken,
  isRandomToken,
  isUseOutdated,
  parseTokenLimit,
  recordUse,
} from '../auth/random-tokens.js';
import { findOrCreateUser, findRestDays, getOwnerUser } from '../auth/users.js';
import type { Row } from '../database/database.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import type { Identity } from '../operation/identity.js';
import { Refused } from '../operation/refused.js';
import { getRequestFacts } from './access-log.js';
import type { Concern, Route } from './concern.js';
import { admitCaller, type RateLimit } from './rate-limit.js';
import { createRefusalLog } from './refusal-log.js';

/** Finds the caller of each request, and counts it against their limit. */
export function createAuthentication(context: Context, takeRequest: RateLimit): Concern {
  const logRefusal = createRefusalLog(context);
  const identify = async (request: FastifyRequest, { page }: Pick<Route, 'page'>) => {
    const given = readCredential(context, request);
    // A session reads pages, and nothing else: no other site can send requests with it.
    const session = given === undefined && page && (await findSession(context, request.headers.cookie));
    const caller =
      session ||
      (await authenticate(context, given).catch((error) => {
        logRefusal(error, given);
        throw error;
      }));
    if (caller.kind !== 'none')
      Object.assign(getRequestFacts(request.raw), { user: caller.userId, credential: caller.kind });
    return caller;
  };
  return {
    onRequest: async (request, _reply, route) => {
      request.caller = await admitCaller(takeRequest, request, () => identify(request, route));
    },
  };
}

const ANONYMOUS: Caller = { kind: 'none', admin: false, key: 'none' };

/** The Authorization header, or the header with the key that another service takes in its place. */
function readCredential(
  { compatibility }: Pick<Context, 'compatibility'>,
  { headers }: FastifyRequest,
): string | undefined {
  const key = headers[compatibility.apiKeyHeader ?? ''];
  return headers.authorization ?? (typeof key === 'string' ? `Bearer ${key}` : undefined);
}

/**
 * Finds the caller that reads what anyone may read.
 * @throws Refused unauthenticated, also without a credential if the configuration asks for one
 */
export async function authenticateReader(context: Context, request: FastifyRequest): Promise<Caller> {
  const caller = await authenticate(context, readCredential(context, request));
  if (caller.kind === 'none' && context.configuration.registry.read === 'authenticated')
    throw credentialRequired();
  return caller;
}

export function credentialRequired(): Refused {
  const message = 'A credential is required.';
  return new Refused('unauthenticated', message);
}

/**
 * Finds the caller that the Authorization header identifies; an anonymous one without a header.
 * @throws Refused unauthenticated if the credential is invalid
 */
export async function authenticate(context: Context, authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return ANONYMOUS;
  const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization)?.[1];
  if (!token) throw new Refused('unauthenticated', 'Send the credential as `Authorization: Bearer <token>`.');
  if (context.keys.owner !== undefined && isSameSecret(token, context.keys.owner))
    return toUserCaller(await getOwnerUser(context), { kind: 'owner', admin: true });
  if (isRandomToken('personal_access_tokens', token)) return toTokenCaller(context, token);
  if (isRandomToken('api_keys', token)) return toKeyCaller(context, token);
  if (isAdminToken(token)) return toAdminTokenCaller(context, token);
  for (const verifier of context.verifiers) {
    const identity = await verifier(context, token);
    if (identity) return toIdentityCaller(context, identity);
  }
  throw new Refused('unauthenticated', 'The token is not valid for this service; it may have been revoked.');
}

async function toIdentityCaller(context: Context, identity: Identity): Promise<Caller> {
  const { kind, admin, expiresAt, weakness } = identity;
  return toUserCaller(await findOrCreateUser(context, identity), {
    kind,
    admin,
    weakness,
    expiresAt: new Date(expiresAt * 1000).toISOString(),
  });
}

function toUserCaller(
  userId: string,
  rest: Pick<Caller, 'kind' | 'admin' | 'expiresAt' | 'weakness'>,
): Caller {
  return { ...rest, userId, key: `user:${userId}` };
}

async function toTokenCaller(context: Context, token: string): Promise<Caller> {
  const row = await requireRandomToken(context, 'personal_access_tokens', token);
  return {
    kind: 'personal_access_token',
    userId: row.created_by,
    admin: false,
    publisherId: row.publisher_id,
    nodes: parseTokenLimit(row.nodes),
    stages: row.stage === 1,
    tokenId: row.id,
    expiresAt: row.expires_at,
    key: `token:${row.id}`,
  };
}

async function toKeyCaller(context: Context, token: string): Promise<Caller> {
  const row = await requireRandomToken(context, 'api_keys', token);
  return {
    kind: 'api_key',
    userId: row.user_id,
    admin: false,
    operations: parseTokenLimit(row.operations),
    tokenId: row.id,
    keyName: row.name,
    expiresAt: row.expires_at,
    key: `key:${row.user_id}:${row.name}`,
  };
}

/** Finds a token and records its use. @throws Refused unauthenticated */
async function requireRandomToken<Table extends keyof typeof TOKEN_NAMES>(
  context: Context,
  table: Table,
  token: string,
): Promise<Row<Table>> {
  const { database, now } = context;
  const row = await findToken(database, table, token, now());
  if (!row) throw new Refused('unauthenticated', `The ${TOKEN_NAMES[table]} is unknown, expired or revoked.`);
  const used = row as Row<'personal_access_tokens'> | Row<'api_keys'>;
  const days = await findRestDays(context, database, 'user_id' in used ? used.user_id : used.created_by);
  if (days !== undefined) {
    const why = `its owner has not signed in for ${days} days; it works again after a sign-in`;
    throw new Refused('unauthenticated', `The ${TOKEN_NAMES[table]} rests, because ${why}.`);
  }
  if (isUseOutdated(used, now()))
    await database.transaction().execute((tx) => recordUse(tx, table, used.id, now()));
  return row;
}

const TOKEN_NAMES = { personal_access_tokens: 'personal access token', api_keys: 'API key' };

async function toAdminTokenCaller(context: Context, token: string): Promise<Caller> {
  const { jti, userId, expiresAt } = await findAdminToken(context, token);
  return { kind: 'admin_token', userId, admin: true, tokenId: jti, expiresAt, key: `admin:${jti}` };
}
