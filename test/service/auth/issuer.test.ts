import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKeyFinder, findIssuerTrouble } from '../../../src/service/auth/issuer-keys.js';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { createPerson, issuerForTest } from '../../support/issuer.js';
import { listenOn } from '../../support/listen.js';
import { ask, serviceForTest } from '../../support/service.js';

type IssuerInput = NonNullable<ConfigurationInput['issuers']>[number];

/** A service that trusts an issuer, with a clock that the test controls. */
async function createStage(settings: Partial<IssuerInput> = {}) {
  const issuer = await issuerForTest();
  const clock = { ahead: 0 };
  const service = await serviceForTest(
    { issuers: [{ issuer: issuer.url, ...settings }] },
    { now: () => Date.now() + clock.ahead },
  );
  const me = (token: string) => ask(`${service.url}/users/me`, { token });
  const status = async (token: string) => (await me(token)).status;
  const sign = (claims: object = {}) => issuer.sign({ sub: 'ann', aud: service.url, ...claims });
  return { issuer, clock, service, me, status, sign };
}

const toMilliseconds = (count: number) => count * 60_000;
const inSeconds = (count: number) => Math.floor(Date.now() / 1000) + count;

/** Logs why credentials were refused. */
async function createLoggedStage(settings: Partial<IssuerInput>) {
  const logged: [message: string, facts: unknown][] = [];
  const issuer = await issuerForTest();
  const service = await serviceForTest(
    { issuers: [{ issuer: issuer.url, ...settings }] },
    { log: (level, message, facts) => void (level === 'warn' && logged.push([message, facts])) },
  );
  const me = (token: string) => ask(`${service.url}/users/me`, { token });
  return { issuer, service, me, logged };
}

it('why a token is refused is logged, once for each reason, with its issuer and audience', async () => {
  const { issuer, service, me, logged } = await createLoggedStage({ issuer: 'http://127.0.0.1:1/' });
  const token = await issuer.sign({ sub: 'ann', aud: service.url });
  for (let count = 0; count < 3; count++) expect((await me(token)).status).toBe(401);
  const reason = 'The token is not valid for this service; it may have been revoked.';
  const refused = logged.filter(([message]) => message === 'A credential was refused.');
  expect(refused).toEqual([
    ['A credential was refused.', { reason, issuer: issuer.url, audience: service.url }],
  ]);
});

it('the trouble of an issuer is found: its name, its silence, and a client id that is missing', async () => {
  const { url } = await issuerForTest();
  expect(await findIssuerTrouble([{ issuer: url, clientId: 'regen' }])).toEqual([]);
  expect(
    await findIssuerTrouble([{ issuer: `${url}/` }, { issuer: 'http://127.0.0.1:1', clientId: 'regen' }]),
  ).toEqual([
    `Tokens of ${url}/ would be refused: ${url}/.well-known/openid-configuration belongs to the issuer ${url}.`,
    `The issuer ${url}/ has no clientId, so regen auth login needs one with --client-id.`,
    expect.stringMatching(/^Tokens of http:\/\/127\.0\.0\.1:1 would be refused: .*ECONNREFUSED\.$/),
  ]);
});

describe('a token of a configured issuer', () => {
  it('identifies its bearer, who becomes a user on first use', async () => {
    const { issuer, service, me } = await createStage();
    const person = createPerson('ann', { name: 'Ann', roles: ['editor', 'admin'] });
    const token = await issuer.signIn(person, service.url);
    const { body } = await me(token);
    expect(body).toMatchObject({ name: 'Ann', email: 'ann@example.org', admin: true, publishers: [] });
    expect(body.credential.kind).toBe('identity_provider');
    expect(Date.parse(body.credential.expires_at)).toBeGreaterThan(Date.now() + toMilliseconds(58));
    expect((await me(token)).body.id).toBe(body.id);
  });

  it('accepts an invitation to its address, but only if the issuer has verified the address', async () => {
    const { service, me, sign } = await createStage();
    const owner = { token: service.ownerToken, method: 'POST' };
    await ask(`${service.url}/publishers`, { ...owner, json: { id: 'acme', name: 'Acme' } });
    const json = { email: 'Ann@example.org', role: 'owner' };
    await ask(`${service.url}/publishers/acme/members`, { ...owner, json });
    const email = 'ann@example.org';
    const accept = (token: string) =>
      ask(`${service.url}/users/invitations/acme/accept`, { method: 'POST', token });
    for (const email_verified of [undefined, false, 'true', 1]) {
      const token = await sign({ email, email_verified });
      expect([email_verified, (await me(token)).body.email]).toEqual([email_verified, undefined]);
      expect((await accept(token)).status).toBe(404);
    }
    const token = await sign({ email, email_verified: true });
    expect((await me(token)).body.publishers).toEqual([]);
    expect((await accept(token)).body).toMatchObject({ role: 'owner', user: { email } });
    expect((await me(token)).body.publishers).toEqual([{ id: 'acme', role: 'owner' }]);
  });

  it('has a name and a subject that can be stored as they are', async () => {
    const { me, sign } = await createStage();
    const name = `${'a'.repeat(199)}😀`;
    expect((await me(await sign({ name }))).body.name).toBe(`${'a'.repeat(199)}\ufffd`);
    expect((await me(await sign({ sub: 'a\ud800' }))).status).toBe(401);
  });

  it('is accepted up to a minute before it begins and after it ends', async () => {
    const { status, sign } = await createStage();
    expect(await status(await sign({ exp: inSeconds(-50) }))).toBe(200);
    expect(await status(await sign({ exp: inSeconds(-61) }))).toBe(401);
    expect(await status(await sign({ nbf: inSeconds(50) }))).toBe(200);
    expect(await status(await sign({ nbf: inSeconds(70) }))).toBe(401);
  });

  it('is refused by a service whose clock is ten minutes off, with a message about time', async () => {
    const { issuer, clock, service, me } = await createStage();
    issuer.tokenSeconds = 300;
    const token = await issuer.signIn(createPerson('ann'), service.url);
    expect((await me(token)).status).toBe(200);
    clock.ahead = toMilliseconds(10);
    expect((await me(token)).body.message).toContain('has expired');
    clock.ahead = -toMilliseconds(10);
    const early = await issuer.sign({ sub: 'ann', aud: service.url, nbf: inSeconds(0) });
    expect((await me(early)).body.message).toContain('not valid yet');
  });

  it('is refused if it is for another service', async () => {
    const { issuer, service, me } = await createStage();
    const other = await issuer.signIn(createPerson('ann'), 'https://other.example.org');
    const { status, body } = await me(other);
    const reason = `The token is for another service than ${service.url}; sign in again.`;
    expect([status, body.message]).toEqual([401, reason]);
    expect((await me(await issuer.signIn(createPerson('ann'), service.url))).status).toBe(200);
  });

  it('makes an admin according to the configured claim and role', async () => {
    const named = { rolesClaim: 'https://example.org/roles', adminRole: 'Registry Admins' };
    const url = await createStage(named);
    const admin = async ({ me, sign }: typeof url, claims: object) =>
      (await me(await sign(claims))).body.admin;
    expect(await admin(url, { 'https://example.org/roles': ['x', 'Registry Admins'] })).toBe(true);
    expect(await admin(url, { roles: ['Registry Admins', 'admin'] })).toBe(false);

    const path = await createStage({ rolesClaim: 'realm_access.roles' });
    expect(await admin(path, { realm_access: { roles: ['admin'] } })).toBe(true);
    expect(await admin(path, { realm_access: { roles: 'admin' } })).toBe(true);
    for (const realm_access of [
      { roles: 'not an admin' },
      { roles: 'user admin' },
      { roles: 'administrator' },
      { roles: { admin: true } },
      'admin',
      null,
      [['admin']],
    ])
      expect([realm_access, await admin(path, { realm_access })]).toEqual([realm_access, false]);
  });
});

describe('the API keys and personal access tokens of a person of a configured issuer', () => {
  const days = (count: number) => count * 24 * 60 * 60_000;

  /** Keys of Ann, who signed in once. */
  async function withKeys(settings: Partial<IssuerInput> = {}) {
    const { issuer, clock, service, me } = await createStage(settings);
    const later = () => ({ exp: inSeconds((clock.ahead + toMilliseconds(60)) / 1000) });
    const signIn = async () => me(await issuer.sign({ sub: 'ann', aud: service.url, ...later() }));
    const token = await issuer.sign({ sub: 'ann', aud: service.url });
    const post = async (path: string, json: object) =>
      (await ask(service.url + path, { method: 'POST', token, json })).body;
    await post('/publishers', { id: 'anns', name: 'Ann' });
    const { token: key } = await post('/users/keys', { name: 'script' });
    const { token: pat } = await post('/publishers/anns/tokens', { name: 'ci' });
    const owner = service.ownerToken;
    const { body: someone } = await me(owner);
    const membership = `${service.url}/admin/publishers/anns/members/${someone.id}`;
    await ask(membership, { method: 'PUT', token: owner, json: { role: 'member' } });
    // Someone else publishes with her token.
    const publish = (version: string) =>
      ask(`${service.url}/publishers/anns/nodes/anns-node/versions`, {
        method: 'POST',
        token: owner,
        json: { node: {}, node_version: { version }, personal_access_token: pat },
      });
    const statuses = async () => [(await me(key)).status, (await me(pat)).status];
    return { clock, me, key, signIn, publish, statuses };
  }

  it('are suspended when the person has not signed in for 90 days, until the next sign-in', async () => {
    const { clock, me, key, signIn, publish, statuses } = await withKeys();
    clock.ahead = days(89);
    expect(await statuses()).toEqual([200, 200]);
    expect((await publish('1.0.0')).status).toBe(201);
    clock.ahead = days(91);
    expect(await statuses()).toEqual([401, 401]);
    expect((await me(key)).body.message).toContain('has not signed in for 90 days');
    expect((await publish('1.0.1')).body.error).toBe('invalid_personal_access_token');
    expect((await signIn()).status).toBe(200);
    expect(await statuses()).toEqual([200, 200]);
    expect((await publish('1.0.1')).status).toBe(201);
  });

  it('are suspended after the configured days, or never', async () => {
    const short = await withKeys({ restDays: 7 });
    await short.signIn();
    short.clock.ahead = days(8);
    expect(await short.statuses()).toEqual([401, 401]);
    const never = await withKeys({ restDays: false });
    never.clock.ahead = days(300);
    expect(await never.statuses()).toEqual([200, 200]);
  });
});

describe('a token that claims to be from a configured issuer', () => {
  it('is refused unless it has a valid signature of the issuer', async () => {
    const { issuer, clock, service, me } = await createStage();
    const jwks = (await (await fetch(`${issuer.url}/jwks`)).json()) as { keys: [{ kid: string; x: string }] };
    const [{ kid, x }] = jwks.keys;
    const fill = <Token extends SignJWT | UnsecuredJWT>(token: Token): Token => {
      token.setIssuer(issuer.url).setAudience(service.url).setSubject('ann').setExpirationTime('1h');
      return token;
    };
    const signed = (header: { alg: string; kid?: string }, key: Parameters<SignJWT['sign']>[0]) =>
      fill(new SignJWT({ roles: ['admin'] }))
        .setProtectedHeader(header)
        .sign(key);
    const outsider = await generateKeyPair('ES256', { extractable: true });
    const bad = {
      unsigned: fill(new UnsecuredJWT({})).encode(),
      "by another's key with its kid": await signed({ alg: 'ES256', kid }, outsider.privateKey),
      "by another's key": await signed({ alg: 'ES256', kid: 'x' }, outsider.privateKey),
      'by another algorithm': await signed(
        { alg: 'EdDSA', kid },
        (await generateKeyPair('Ed25519')).privateKey,
      ),
      'with the public key as a secret': await signed({ alg: 'HS256', kid }, Buffer.from(x)),
      'without a subject': await issuer.sign({ aud: service.url }),
      'without an end': await issuer.sign({ sub: 'ann', aud: service.url, exp: undefined }),
      'without an audience': await issuer.sign({ sub: 'ann' }),
      'with a subject that cannot be kept': await issuer.sign({ sub: 'a\0b', aud: service.url }),
      'with an endless subject': await issuer.sign({ sub: 'a'.repeat(256), aud: service.url }),
    };
    for (const [title, token] of Object.entries(bad)) {
      // Keys are fetched at most once per second.
      clock.ahead += 1_000;
      const { status, body } = await me(token);
      expect([title, status, body.error]).toEqual([title, 401, 'unauthenticated']);
    }
  });

  it('is refused if it is not an access token, although its audience is the right one', async () => {
    const { issuer, service, status, sign } = await createStage();
    const typed = async (typ: string | undefined, claims: object = {}) =>
      issuer.sign({ sub: 'ann', aud: service.url, ...claims }, typ === undefined ? {} : { typ });
    const others = {
      'a logout token': await typed('logout+jwt'),
      'an older logout token': await sign({
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      }),
      'a security event': await typed('application/secevent+jwt'),
      'an ID token': await sign({ at_hash: 'abc', nonce: 'n' }),
      'an ID token of the code flow': await sign({ nonce: 'n', azp: 'regen-cli' }),
      "Keycloak's ID token": await sign({ typ: 'ID' }),
      "Keycloak's refresh token": await sign({ typ: 'Refresh', scope: 'openid' }),
    };
    for (const [title, token] of Object.entries(others))
      expect([title, await status(token)]).toEqual([title, 401]);
    const accepted = {
      'without a type': await typed(undefined),
      'of RFC 9068': await typed('at+jwt', { client_id: 'regen-cli' }),
      'of RFC 9068 in full': await typed('application/AT+JWT'),
      "Keycloak's": await typed('JWT', { typ: 'Bearer', nonce: 'n', scope: 'openid email' }),
      "Entra's": await typed('JWT', { scp: 'access_as_user', nonce: 'n', ver: '2.0' }),
      "Auth0's": await typed('JWT', { scope: 'openid profile', azp: 'client' }),
    };
    for (const [title, token] of Object.entries(accepted))
      expect([title, await status(token)]).toEqual([title, 200]);
  });

  it('may be an ID token if the issuer is configured so, and never one of another kind', async () => {
    const { status, sign } = await createStage({ idTokens: true });
    expect(await status(await sign({ at_hash: 'abc', nonce: 'n' }))).toBe(200);
    expect(await status(await sign({ typ: 'ID' }))).toBe(200);
    expect(await status(await sign({ typ: 'Refresh' }))).toBe(401);
    expect(await status(await sign({ at_hash: 'abc', events: {} }))).toBe(401);
  });

  it('is refused if its algorithm is not configured', async () => {
    const { status, sign } = await createStage({ algorithms: ['RS256'] });
    expect(await status(await sign())).toBe(401);
  });

  it('never makes the service fail, for any content', async () => {
    const { me, sign } = await createStage();
    const odd = {
      name: 'A\0n\u0007n',
      email: 'no address',
      email_verified: true,
      exp: 1e17,
      roles: { a: 1 },
    };
    const { status, body } = await me(await sign({ ...odd, sub: 'odd' }));
    expect([status, body.name, body.email]).toEqual([200, 'A n n', undefined]);
    expect((await me(await sign({ sub: 'long', name: 'x'.repeat(5000) }))).body.name).toHaveLength(200);
  });
});

describe('the keys of an issuer', () => {
  it('are fetched once for concurrent requests', async () => {
    const { issuer, status, sign } = await createStage();
    const token = await sign();
    expect(new Set(await Promise.all([1, 2, 3, 4, 5].map(() => status(token))))).toEqual(new Set([200]));
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  it('are given up after five seconds in which the service ran, with a log that says so', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const silent = await listenOn(() => vi.advanceTimersByTime(5_000));
    onTestFinished(silent.close);
    const reasons: unknown[] = [];
    const log = (_level: string, _message: string, fields: { reason?: unknown } = {}) =>
      void reasons.push(fields.reason);
    const find = createKeyFinder(silent.url, { now: Date.now, log });
    await expect(find({ alg: 'EdDSA' }, { payload: '', signature: '' })).rejects.toThrow('longer than 5 s');
    expect(reasons).toEqual([`${silent.url}/.well-known/openid-configuration: It took longer than 5 s.`]);
  });

  it('are fetched at once for a new key; a removed key is accepted for at most 5 minutes', async () => {
    const { issuer, clock, status, sign } = await createStage();
    const old = await sign();
    expect(await status(old)).toBe(200);
    await issuer.rotate();
    clock.ahead = toMilliseconds(5) - 2_000;
    expect(await status(old)).toBe(200);
    clock.ahead = toMilliseconds(5);
    expect(await status(await sign())).toBe(200);
    clock.ahead += 1_000;
    expect(await status(old)).toBe(401);
    await issuer.rotate();
    clock.ahead += 1_000;
    expect(await status(await sign())).toBe(200);
  });

  it('are not fetched for every token with an unknown key', async () => {
    const { issuer, service, clock, me, sign } = await createStage();
    const { privateKey } = await generateKeyPair('ES256');
    const forged = await new SignJWT({ iss: issuer.url, aud: service.url, sub: 'eve' })
      .setProtectedHeader({ alg: 'ES256', kid: 'x' })
      .setExpirationTime('1h')
      .sign(privateKey);
    await me(await sign());
    issuer.asked.length = 0;
    clock.ahead = 2_000;
    await Promise.all(Array.from({ length: 20 }, () => me(forged)));
    expect(issuer.asked.length).toBeLessThanOrEqual(4);
  });

  it('are used for a day while the issuer is down; without any the answer is 503, not 401', async () => {
    const { issuer, clock, me, status, sign } = await createStage();
    issuer.instead = (_, response) => Boolean(response.writeHead(500).end());
    const token = await sign({ exp: inSeconds(1e6) });
    const early = await me(token);
    expect([early.status, early.body.error, early.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '10',
    ]);

    delete issuer.instead;
    expect(await status(token)).toBe(503);
    clock.ahead = 10_000;
    expect(await status(token)).toBe(200);

    await issuer.stop();
    clock.ahead += toMilliseconds(23 * 60);
    expect(await status(token)).toBe(200);
    await issuer.rotate();
    expect(await status(await sign({ exp: inSeconds(1e6) }))).toBe(503);
    clock.ahead += toMilliseconds(60);
    expect(await status(token)).toBe(503);
  });
});

/** Unusable answers of an issuer. */
const hostile: Record<string, (url: string) => RequestListener> = {
  'a redirect': (url) => (_, response) => response.writeHead(302, { location: `${url}/elsewhere` }).end(),
  'what is no JSON': () => (_, response) => response.end('<html>'),
  null: () => (_, response) => response.end('null'),
  "another issuer's document": (url) => (_, response) =>
    response.end(JSON.stringify({ issuer: `${url}/`, jwks_uri: `${url}/jwks` })),
  'another scheme': (url) => (_, response) =>
    response.end(JSON.stringify({ issuer: url, jwks_uri: 'file:///etc/passwd' })),
  'another host without https': (url) => (_, response) =>
    response.end(JSON.stringify({ issuer: url, jwks_uri: 'http://example.org/jwks' })),
  'keys that are none': (url) => (_, response) =>
    response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks`, keys: [1] })),
  'what has no end': () => (_, response) => {
    const chunk = 'x'.repeat(64 * 1024);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more).writeHead(200);
    more();
  },
  'what does not come': () => (_, response) => response.write('{'),
};

it('the keys of an issuer are not taken from an unusable answer, and time out', async () => {
  const { privateKey } = await generateKeyPair('ES256');
  const asked: string[] = [];
  const issuers = await Promise.all(
    Object.values(hostile).map(async (listenerAt) => {
      const server = createServer((request, response) => {
        asked.push(request.url as string);
        listenerAt(url)(request, response);
      });
      const url = await listenForTest(server);
      return { issuer: url };
    }),
  );
  const service = await serviceForTest({ issuers });
  const answers = await Promise.all(
    issuers.map(async ({ issuer }) => {
      const claims = { iss: issuer, aud: service.url, sub: 'ann' };
      const token = new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).setExpirationTime('1h');
      return ask(`${service.url}/users/me`, { token: await token.sign(privateKey) });
    }),
  );
  const received = answers.map(({ status, body }) => `${status} ${body.error}`);
  expect(received).toEqual(issuers.map(() => '503 unavailable'));
  expect(asked).not.toContain('/elsewhere');
});

async function listenForTest(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
