import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { registryForFile } from '../../support/registry.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';

const registry = registryForFile();
const readOwnUser = (token: string) => ask(`${registry().url}/users/me`, { token });

describe('the owner token', () => {
  it('belongs to an admin who is otherwise an ordinary user', async () => {
    const { url, ownerToken } = registry().service;
    const { body } = await ask(`${url}/users/me`, { token: ownerToken });
    expect(body).toEqual({
      id: 'owner',
      name: 'Owner',
      admin: true,
      publishers: [],
      credential: { kind: 'owner' },
    });
    const made = await ask(`${url}/publishers`, {
      method: 'POST',
      token: ownerToken,
      json: { id: 'own', name: 'Own' },
    });
    expect(made.body.members).toMatchObject([{ id: 'owner', role: 'owner' }]);
    const other = await ask(`${url}/publishers/acme`, {
      method: 'PUT',
      token: ownerToken,
      json: { name: 'x' },
    });
    expect(other.status).toBe(403);
  });
});

describe("the service's own token", () => {
  it('identifies its bearer and says when it expires', async () => {
    const { body } = await readOwnUser(registry().tokens.admin as string);
    expect(body).toMatchObject({ name: 'root', email: 'root@example.org', admin: true });
    expect(body.credential.kind).toBe('service');
    expect(Date.parse(body.credential.expires_at)).toBeGreaterThan(Date.now());
  });

  it('creates one user, even if its first requests are concurrent', async () => {
    const token = await registry().service.signFor({ sub: 'new' });
    const ids = (await Promise.all([1, 2, 3, 4].map(() => readOwnUser(token)))).map(({ body }) => body.id);
    expect(new Set(ids).size).toBe(1);
  });

  it('updates the name of its user, and keeps what it does not contain', async () => {
    const { service } = registry();
    await readOwnUser(await service.signFor({ sub: 'may', name: 'May', email: 'may@example.org' }));
    const { body } = await readOwnUser(await service.signFor({ sub: 'may', name: 'June' }));
    expect(body).toMatchObject({ name: 'June', email: 'may@example.org' });
  });

  it('is valid until the second at which it expires', async () => {
    let time = Math.floor(Date.now() / 1000) * 1000;
    const { url, signFor } = await serviceForTest({ data: folderForTest() }, { now: () => time });
    const token = await signFor({ sub: 'ann', expiresInSeconds: 60 });
    time += 59_999;
    expect((await ask(`${url}/users/me`, { token })).status).toBe(200);
    time += 1;
    const ended = await ask(`${url}/users/me`, { token });
    expect([ended.status, ended.body.message]).toEqual([401, expect.stringContaining('expired')]);
  });
});

describe('a personal access token', () => {
  it('is accepted until the millisecond at which it expires', async () => {
    let time = Date.now();
    const { url, ownerToken } = await serviceForTest({}, { now: () => time });
    const post = { method: 'POST', token: ownerToken };
    await ask(`${url}/publishers`, { ...post, json: { id: 'acme', name: 'Acme' } });
    const expires_at = new Date(time + 60_000).toISOString();
    const { body } = await ask(`${url}/publishers/acme/tokens`, {
      ...post,
      json: { name: 'ci', expires_at },
    });
    const status = async () => (await ask(`${url}/users/me`, { token: body.token })).status;
    time += 59_999;
    expect(await status()).toBe(200);
    time += 1;
    expect(await status()).toBe(401);
  });
});

describe('an invalid credential', () => {
  async function signed(alter: (token: SignJWT) => SignJWT, kid?: string): Promise<string> {
    const { privateKey } = await generateKeyPair('Ed25519');
    const token = new SignJWT({ roles: ['admin'] }).setSubject('ann').setIssuedAt().setExpirationTime('1h');
    return alter(token)
      .setProtectedHeader({ alg: 'EdDSA', ...(kid !== undefined && { kid }) })
      .sign(privateKey);
  }
  const unsigned = () =>
    new UnsecuredJWT({})
      .setIssuer('regen')
      .setAudience('regen')
      .setSubject('ann')
      .setIssuedAt()
      .setExpirationTime('1h')
      .encode();
  const own = (token: SignJWT) => token.setIssuer('regen').setAudience('regen');
  const kid = () => registry().service.context.keys.token[0]?.kid;

  it('is refused even by operations that need no credential', async () => {
    const { tokens, url } = registry();
    const [head, claims, signature] = (tokens.ann as string).split('.') as [string, string, string];
    const more = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), roles: ['admin'] }),
    );
    const bad = {
      'signed by another key': await signed(own, kid()),
      'signed by an unknown key': await signed(own, 'x'),
      'of another issuer': await signed(
        (token) => token.setIssuer('https://example.org').setAudience('regen'),
        kid(),
      ),
      unsigned: unsigned(),
      'with other claims': [head, more.toString('base64url'), signature].join('.'),
      'cut short': (tokens.ann as string).slice(0, -10),
      nonsense: 'x',
      'an almost right owner token': registry().service.ownerToken.slice(0, -1),
    };
    for (const [title, token] of Object.entries(bad)) {
      for (const path of ['/users/me', '/nodes']) {
        const { status, body, headers } = await ask(url + path, { token });
        expect([title, status, body.error]).toEqual([title, 401, 'unauthenticated']);
        expect(headers.get('www-authenticate')).toBe('Bearer');
        expect(JSON.stringify(body)).not.toContain(token.length > 5 ? token : '\0');
      }
    }
    for (const authorization of ['Basic eDp5', 'Bearer', 'Bearer a b', '']) {
      const answer = await ask(`${url}/nodes`, { headers: { authorization } });
      expect([authorization, answer.status]).toEqual([authorization, 401]);
    }
  });
});
