import { randomUUID } from 'node:crypto';
import { generateKeyPair, SignJWT } from 'jose';
import { sql } from 'kysely';
import { createAdminToken } from '../../src/service/auth/admin-tokens.js';
import { createRandomToken } from '../../src/service/auth/random-tokens.js';
import { createPerson, type TestIssuer } from './issuer.js';
import type { Registry } from './registry.js';

/** The publisher that callers may belong to, and a personal access token for it. */
export interface Own {
  readonly publisher: string;
  readonly token: string;
  /** One that is limited to another node. */
  readonly limitedToken: string;
}

export interface AsCaller {
  readonly token: (own: Own) => string | undefined;
  /** What happens before this caller sends a request. */
  readonly before?: (own: Own) => Promise<unknown>;
}

/** Each kind of caller with a valid credential or none. Those that change the publisher come last. */
export async function createCallers(here: Registry, issuer: TestIssuer): Promise<Record<string, AsCaller>> {
  const { tokens, ok, url } = here;
  const { valid } = await createAdminTokens(here);
  const user = await issuer.signIn(createPerson('una'), url);
  const admin = await issuer.signIn(createPerson('ada', { roles: ['admin'] }), url);
  const { token: key } = await ok('ann', 'POST', '/users/keys', { name: 'script' });
  const before = ({ publisher }: Own) =>
    ok('admin', 'PUT', `/admin/publishers/${publisher}`, { status: 'PublisherStatusBanned' });
  return {
    none: { token: () => undefined },
    stranger: { token: () => tokens.eve },
    "identity provider's user": { token: () => user },
    member: { token: () => tokens.bob },
    owner: { token: () => tokens.ann },
    'its token': { token: ({ token }) => token },
    'its token for another node': { token: ({ limitedToken }) => limitedToken },
    "other's token": { token: () => tokens.pat },
    "owner's API key": { token: () => key },
    admin: { token: () => tokens.admin },
    "identity provider's admin": { token: () => admin },
    'admin token': { token: () => valid },
    "banned publisher's owner": { token: () => tokens.ann, before },
    "banned publisher's token": { token: ({ token }) => token, before },
  };
}

/** Each kind of invalid credential. */
export async function createInvalidCredentials(
  here: Registry,
  issuer: TestIssuer,
): Promise<Record<string, string>> {
  const { service, url } = here;
  const { revoked, expired } = await createAdminTokens(here);
  const now = Math.floor(service.context.now() / 1000);
  const ofIssuer = (claims: object) => issuer.sign({ sub: 'ada', aud: url, roles: ['admin'], ...claims });
  return {
    malformed: 'malformed',
    expired: await service.signFor({ sub: 'ann', expiresInSeconds: -60 }),
    'expired token': await createExpiredToken(here),
    'revoked token': await createRevokedToken(here),
    ...(await createDeadKeys(here)),
    'expired admin token': expired,
    'revoked admin token': revoked,
    "identity provider's, for another audience": await ofIssuer({ aud: 'https://other.example.org' }),
    "identity provider's, expired": await ofIssuer({ exp: now - 120 }),
    "identity provider's, not yet valid": await ofIssuer({ nbf: now + 86_400, exp: now + 90_000 }),
    "another issuer's": await ofIssuer({ iss: 'https://other.example.org' }),
    "another's in the identity provider's name": await forgeToken(issuer, url),
  };
}

async function forgeToken(issuer: TestIssuer, aud: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256');
  const { kid } = JSON.parse(
    Buffer.from((await issuer.sign({})).split('.')[0] as string, 'base64url').toString(),
  );
  return new SignJWT({ iss: issuer.url, aud, sub: 'ada', roles: ['admin'] })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setExpirationTime('1h')
    .sign(privateKey);
}

async function createExpiredToken({ change, service }: Registry): Promise<string> {
  const { token, prefix, hash } = createRandomToken('personal_access_tokens');
  const created_at = new Date(service.context.now()).toISOString();
  await change(async (tx) => {
    const row = await tx
      .selectFrom('personal_access_tokens')
      .selectAll()
      .where('publisher_id', '=', 'acme')
      .executeTakeFirstOrThrow();
    const expires_at = '2020-01-01T00:00:00.000Z';
    const values = { ...row, id: randomUUID(), prefix, hash, created_at, expires_at };
    await tx.insertInto('personal_access_tokens').values(values).execute();
  });
  return token;
}

async function createRevokedToken({ ok }: Registry): Promise<string> {
  const { id, token } = await ok('ann', 'POST', '/publishers/acme/tokens', { name: 'revoked' });
  await ok('ann', 'DELETE', `/publishers/acme/tokens/${id}`);
  return token;
}

/** API keys that have expired or are revoked. */
async function createDeadKeys({ change, ok }: Registry): Promise<Record<string, string>> {
  const make = () => ok('ann', 'POST', '/users/keys', { name: 'dead' });
  const [expired, revoked] = [await make(), await make()];
  await ok('ann', 'DELETE', `/users/keys/${revoked.id}`);
  await change((tx) =>
    // Its time of expiry is never changed by the service.
    sql`update api_keys set expires_at = '2020-01-01T00:00:00.000Z' where id = ${expired.id}`.execute(tx),
  );
  return { 'expired API key': expired.token, 'revoked API key': revoked.token };
}

/** Admin tokens of an admin: a valid, a revoked and an expired one. */
async function createAdminTokens({
  change,
  ok,
  service,
}: Registry): Promise<Record<'valid' | 'revoked' | 'expired', string>> {
  const { id } = await ok('admin', 'GET', '/users/me');
  const make = (ago = 0) =>
    change((tx) => createAdminToken(tx, { ...service.context, now: () => service.context.now() - ago }, id));
  // The expired one first, because creating the next one deletes its row.
  const expired = await make(3_600_000);
  const [valid, revoked] = [await make(), await make()];
  await ok('admin', 'DELETE', `/admin/tokens/${revoked.jti}`);
  return { valid: valid.token, revoked: revoked.token, expired: expired.token };
}
