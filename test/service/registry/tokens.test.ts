import { describe, expect, it } from 'vitest';
import { publishBody, registryForFile } from '../../support/registry.js';
import { ask, uploadArchive } from '../../support/service.js';

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

  it('shows who made it, and expires after a year by default', async () => {
    const { ok, service } = registry();
    const ann = await ok('ann', 'GET', '/users/me');
    const made = await ok('ann', 'POST', path, { name: 'default' });
    const listed = (await ok('ann', 'GET', path)).find(({ id }: { id: string }) => id === made.id);
    for (const token of [made, listed]) {
      expect(token).toMatchObject({ created_by: ann.id, created_by_email: 'ann@example.org' });
      const days = (Date.parse(token.expires_at) - service.context.now()) / 86_400_000;
      expect(Math.round(days)).toBe(365);
    }
  });

  it("ends with its maker's membership, and does not come back with it", async () => {
    const { as, ok, join, url } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'ending', name: 'Ending' });
    const { id } = await ok('eve', 'GET', '/users/me');
    await join('eve', 'ending', 'owner');
    const { id: tokenId, token } = await ok('eve', 'POST', '/publishers/ending/tokens', { name: 'hers' });
    const publish = () =>
      as('ann', 'POST', '/publishers/ending/nodes/ended/versions', publishBody(token, '1.0.0'));
    const use = () => ask(`${url}/users/me`, { token });
    expect([(await use()).status, (await publish()).status]).toEqual([200, 201]);
    await ok('ann', 'DELETE', `/publishers/ending/members/${id}`);
    for (const again of [false, true]) {
      if (again) await join('eve', 'ending', 'owner');
      expect((await use()).status).toBe(401);
      expect((await publish()).body.error).toBe('invalid_personal_access_token');
      expect(await ok('ann', 'GET', '/publishers/ending/tokens')).toEqual([]);
    }
    const { events } = await ok('ann', 'GET', '/publishers/ending/audit');
    const revoked = events.find(({ action }: { action: string }) => action === 'token.revoke');
    expect(revoked).toMatchObject({ id: tokenId, by_email: 'ann@example.org' });
  });

  it('that is revoked takes its upload URLs with it', async () => {
    const { ok } = registry();
    const { id, token } = await ok('ann', 'POST', path, { name: 'leaked' });
    const register = () =>
      ok('ann', 'POST', '/publishers/acme/nodes/leaked/versions', publishBody(token, '1.0.0'));
    const { signedUrl } = await register();
    await ok('ann', 'DELETE', `${path}/${id}`);
    const { status, body } = await uploadArchive(signedUrl, Buffer.from('archive'));
    expect([status, body.error]).toEqual([403, 'invalid_signature']);
    expect(body.message).toContain('revoked');
  });

  it('may be limited to nodes, and is refused for all others', async () => {
    const { as, ok, url } = registry();
    await ok('ann', 'POST', '/publishers/acme/nodes', { id: 'other', name: 'Other' });
    const limited = { name: 'limited', nodes: ['Mine'] };
    const { token, nodes } = await ok('ann', 'POST', path, limited);
    expect(nodes).toEqual(['Mine']);
    const me = await ask(`${url}/users/me`, { token });
    expect(me.body.credential.nodes).toEqual(['Mine']);
    const publish = (node: string, bearer: string | undefined, pat = token) =>
      ask(`${url}/publishers/acme/nodes/${node}/versions`, {
        method: 'POST',
        token: bearer,
        json: publishBody(pat, '1.0.0'),
      });
    const { tokens } = registry();
    const refused = [403, 'node_not_allowed'];
    for (const [bearer, pat] of [
      [token, token],
      [tokens.ann, token],
      [token, tokens.pat],
    ]) {
      const { status, body } = await publish('other', bearer, pat);
      expect([status, body.error]).toEqual(refused);
    }
    expect((await publish('mine', token)).status).toBe(201);
    // What it sees is limited in the same way.
    const sees = async (target: string) => (await ask(url + target, { token })).status;
    await ok('ann', 'POST', '/publishers/acme/nodes/other/versions', publishBody(tokens.pat, '1.0.0'));
    expect([await sees('/nodes/mine/versions/1.0.0'), await sees('/nodes/other/versions/1.0.0')]).toEqual([
      200, 404,
    ]);
    expect(await sees('/publishers/acme/members')).toBe(403);
    const { body: publisher } = await ask(`${url}/publishers/acme`, { token });
    expect(publisher).not.toHaveProperty('members');
    const wrong = await as('ann', 'POST', path, { name: 'x', nodes: [] });
    expect(wrong.body.details[0].path).toBe('nodes');
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
