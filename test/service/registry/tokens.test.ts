import { describe, expect, it } from 'vitest';
import { publishBody, registryForFile } from '../../support/registry.js';
import { ask } from '../../support/service.js';

const registry = registryForFile();
const path = '/publishers/acme/tokens';

describe('a personal access token', () => {
  it('is shown once, then only masked, and never stored', async () => {
    const { as, ok, service } = registry();
    const { status, body } = await as('ann', 'POST', path, { name: 'deploy', description: 'CI' });
    expect(status).toBe(201);
    expect(body.token).toMatch(/^regen_pat_[\w-]{43}$/);
    const listed = await ok('ann', 'GET', path);
    const same = listed.find(({ id }: { id: string }) => id === body.id);
    expect(same).toMatchObject({
      name: 'deploy',
      description: 'CI',
      token: `${body.token.slice(0, 14)}****`,
    });
    const rows = await service.context.database.selectFrom('personal_access_tokens').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(body.token.slice(10));
  });

  it('records when it was used', async () => {
    const { ok } = registry();
    expect((await ok('ann', 'GET', path))[0].last_used_at).toBeUndefined();
    await ok('pat', 'GET', '/users/me');
    const used = (await ok('ann', 'GET', path)).find(({ name }: { name: string }) => name === 'ci');
    expect(Date.parse(used.last_used_at)).toBeGreaterThan(0);
  });

  it('acts as a member of its publisher', async () => {
    const me = await registry().ok('pat', 'GET', '/users/me');
    expect(me).toMatchObject({
      admin: false,
      publishers: [{ id: 'acme', role: 'member' }],
      credential: { kind: 'personal_access_token' },
    });
  });

  it('needs a name, and an expiry in the future', async () => {
    const { as } = registry();
    const wrong: [object, string][] = [
      [{ name: 'x', expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
      [{ name: 'x', expires_at: 'tomorrow' }, 'expires_at'],
      [{ name: 'x', expires: '2101-01-01T00:00:00Z' }, 'expires'],
      [{}, 'name'],
    ];
    for (const [json, field] of wrong) {
      const { status, body } = await as('ann', 'POST', path, json);
      expect([status, body.details[0].path]).toEqual([400, field]);
    }
  });

  it('is refused once it is revoked', async () => {
    const { as, ok, url } = registry();
    const { id, token } = await ok('ann', 'POST', path, {
      name: 'short',
      expires_at: '2101-01-01T02:00:00+02:00',
    });
    const use = () => ask(`${url}/users/me`, { token });
    expect((await use()).body.credential.expires_at).toBe('2101-01-01T00:00:00.000Z');
    expect((await as('ann', 'DELETE', `${path}/${id}`)).status).toBe(204);
    const answer = await use();
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const publish = await as('ann', 'POST', '/publishers/acme/nodes/x/versions', publishBody(token, '1.0.0'));
    expect(publish.body.error).toBe('invalid_personal_access_token');
    expect((await as('ann', 'DELETE', `${path}/${id}`)).status).toBe(404);
  });

  it('cannot create, list or revoke tokens, and the error says which credential can', async () => {
    const { as } = registry();
    for (const [method, target] of [
      ['POST', path],
      ['GET', path],
      ['DELETE', `${path}/x`],
    ] as const) {
      const { status, body } = await as('pat', method, target, method === 'POST' ? { name: 'x' } : undefined);
      expect([method, status]).toEqual([method, 403]);
      expect(body.message).toContain('sign in');
    }
  });
});
