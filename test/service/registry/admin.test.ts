import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { signJwt } from '../../../src/service/auth/tokens.js';
import { createZip } from '../../support/create-zip.js';
import { publishBody, registryForFile, type Who } from '../../support/registry.js';
import { type Answered, ask, folderForTest, serviceForTest, uploadArchive } from '../../support/service.js';

const registry = registryForFile();

/** A request with the given token. */
const withToken = (token: string, method: string, path: string, json?: unknown) =>
  ask(registry().url + path, { method, token, json });

const newToken = async (): Promise<string> =>
  (await registry().ok('admin', 'POST', '/admin/generate-token')).token;

const readRefusal = async (answer: ReturnType<typeof ask>) => {
  const { status, body } = await answer;
  return [status, body.error];
};

/** The audit log, newest first, as `action status reason by`. */
async function listAudited(limit: number): Promise<string[]> {
  const { events } = await registry().ok('admin', 'GET', `/admin/audit?limit=${limit}`);
  return events.map(({ action, status = '-', reason = '-', by_email }: Answered) =>
    [action, status, reason, by_email].join(' '),
  );
}

describe('an admin token', () => {
  it('is a JWT of the service that expires after exactly an hour', async () => {
    const { as } = registry();
    const { status, body } = await as('admin', 'POST', '/admin/generate-token');
    const claims = decodeJwt(body.token);
    const me = await registry().ok('admin', 'GET', '/users/me');
    expect([status, claims.sub, claims.aud]).toEqual([200, me.id, 'regen-admin']);
    expect(claims.jti).toMatch(/^[\da-f-]{36}$/);
    expect([claims.nbf, claims.exp]).toEqual([claims.iat, (claims.iat as number) + 3600]);
    expect(Date.parse(body.expires_at)).toBe((claims.exp as number) * 1000);
  });

  it('is created by a request with an empty body or none', async () => {
    const { url, tokens } = registry();
    const ways: Record<string, string>[] = [{}, { 'content-type': 'application/json' }];
    for (const headers of ways) {
      const answer = await ask(`${url}/admin/generate-token`, {
        method: 'POST',
        token: tokens.admin,
        headers,
      });
      expect([headers, answer.status]).toEqual([headers, 200]);
    }
  });

  it('is valid until the millisecond at which it expires', async () => {
    let time = 1_790_000_000_700;
    const { url, ownerToken } = await serviceForTest({ data: folderForTest() }, { now: () => time });
    const made = await ask(`${url}/admin/generate-token`, { method: 'POST', token: ownerToken });
    const { token, expires_at } = made.body;
    const use = () => ask(`${url}/admin/audit`, { token });
    time = Date.parse(expires_at) - 1;
    expect((await use()).status).toBe(200);
    time += 1;
    expect(await readRefusal(use())).toEqual([401, 'unauthenticated']);
    expect((await ask(`${url}/admin/tokens`, { token: ownerToken })).body).toEqual([]);
  });

  it('reads what admins read, and identifies its user', async () => {
    const token = await newToken();
    const me = await withToken(token, 'GET', '/users/me');
    expect(me.body).toMatchObject({
      name: 'root',
      admin: true,
      credential: { kind: 'admin_token', expires_at: expect.any(String) },
    });
    const { body } = await withToken(token, 'GET', '/publishers/acme');
    expect(body.members).toHaveLength(2);
  });

  it('cannot create another one, nor write anything outside of /admin', async () => {
    const token = await newToken();
    const mint = await withToken(token, 'POST', '/admin/generate-token');
    expect([mint.status, mint.body.error]).toEqual([403, 'admin_required']);
    expect(mint.body.message).toContain('sign in');
    const create = withToken(token, 'POST', '/publishers', { id: 'by-token', name: 'x' });
    expect(await readRefusal(create)).toEqual([403, 'forbidden']);
  });

  it('is refused once it is revoked, even by itself, and is listed until it expires', async () => {
    const { ok, as } = registry();
    const token = await newToken();
    const { jti, exp } = decodeJwt(token);
    const listed = (await ok('admin', 'GET', '/admin/tokens')).find((one: Answered) => one.jti === jti);
    expect(listed).toMatchObject({ by_email: 'root@example.org' });
    expect(Date.parse(listed.expires_at)).toBe((exp as number) * 1000);
    expect(JSON.stringify(await ok('admin', 'GET', '/admin/tokens'))).not.toContain(token);
    expect((await withToken(token, 'DELETE', `/admin/tokens/${jti}`)).status).toBe(204);
    const after = await withToken(token, 'GET', '/nodes');
    expect([after.status, after.body.message]).toEqual([401, expect.stringContaining('revoked')]);
    expect(await readRefusal(as('admin', 'DELETE', `/admin/tokens/${jti}`))).toEqual([404, 'not_found']);
    const { events } = await ok('admin', 'GET', '/admin/audit?limit=2');
    expect(events).toMatchObject([
      { action: 'admin_token.revoke', kind: 'admin_token', id: jti, by_email: 'root@example.org' },
      { action: 'admin_token.create', kind: 'admin_token', id: jti, by_email: 'root@example.org' },
    ]);
  });

  it('is not accepted as another token of the service, nor the reverse', async () => {
    const { service, url } = registry();
    const made = { subject: 'root', jti: 'made-up', expiresInSeconds: 60, claims: { roles: ['admin'] } };
    for (const audience of ['regen-admin', 'regen-other']) {
      const token = await signJwt(service.context, { ...made, audience });
      expect(await readRefusal(ask(`${url}/nodes`, { token }))).toEqual([401, 'unauthenticated']);
    }
  });
});

describe('a node that an admin changes', () => {
  it('is hidden while it is banned, except from its members, who see the reason, and is restored', async () => {
    const { ok, as, active } = registry();
    await active('bad', '1.0.0');
    // His first request is an event of its own.
    await ok('bob', 'GET', '/users/me');
    const ban = { status: 'NodeStatusBanned', status_detail: 'it reads keys' };
    expect(await ok('admin', 'PUT', '/admin/nodes/bad', ban)).toMatchObject(ban);
    const paths = ['', '/install', '/versions', '/versions/1.0.0', '/versions/1.0.0/host-nodes'];
    for (const path of paths.map((rest) => `/nodes/bad${rest}`)) {
      expect([path, ...(await readRefusal(as('eve', 'GET', path)))]).toEqual([path, 403, 'banned']);
      expect([path, (await as('bob', 'GET', path)).status]).toEqual([path, 200]);
    }
    expect((await ok('bob', 'GET', '/nodes/bad')).status_detail).toBe('it reads keys');
    expect((await ok('guest', 'GET', '/nodes?search=bad')).nodes).toEqual([]);
    const bulk = await ok('eve', 'POST', '/bulk/nodes/versions', {
      node_versions: [{ node_id: 'bad', version: '1.0.0' }],
    });
    expect(bulk.node_versions[0]).toMatchObject({
      status: 'error',
      error_message: 'The node bad is banned.',
    });
    const publish = as('ann', 'POST', '/publishers/acme/nodes/bad/versions', {
      ...publishBody(registry().tokens.pat, '1.1.0'),
    });
    expect(await readRefusal(publish)).toEqual([403, 'banned']);

    const lifted = await ok('admin', 'PUT', '/admin/nodes/bad', { status: 'NodeStatusActive' });
    expect([lifted.status, lifted.status_detail]).toEqual(['NodeStatusActive', undefined]);
    expect((await ok('eve', 'GET', '/nodes/bad')).latest_version.version).toBe('1.0.0');
    expect(await listAudited(2)).toEqual([
      'node.status NodeStatusActive - root@example.org',
      'node.status NodeStatusBanned it reads keys root@example.org',
    ]);
  });

  it('moves only between Active and Banned', async () => {
    const { ok, as } = registry();
    await ok('ann', 'POST', '/publishers/acme/nodes', { id: 'fate', name: 'Fate' });
    const set = (status: string) => as('admin', 'PUT', '/admin/nodes/fate', { status });
    expect(await readRefusal(set('NodeStatusDeleted'))).toEqual([400, 'invalid_transition']);
    await ok('ann', 'DELETE', '/publishers/acme/nodes/fate');
    for (const status of ['NodeStatusActive', 'NodeStatusBanned', 'NodeStatusDeleted']) {
      expect([status, ...(await readRefusal(set(status)))]).toEqual([status, 400, 'invalid_transition']);
    }
    expect(await readRefusal(set('Banned'))).toEqual([400, 'invalid_request']);
  });

  it('keeps the fields of admins when its publisher changes it, and shows the tags only to admins', async () => {
    const { ok } = registry();
    await ok('ann', 'POST', '/publishers/acme/nodes', { id: 'rank-a', name: 'Ranked' });
    await ok('ann', 'POST', '/publishers/acme/nodes', { id: 'rank-b', name: 'Ranked' });
    const set = (fields: object) => ok('admin', 'PUT', '/admin/nodes/rank-b', fields);
    await set({ tags_admin: ['reviewed'], status_detail: 'looked at' });
    await set({ preempted_host_node_names: ['Blur'] });
    await set({ search_ranking: 7 });
    await ok('ann', 'PUT', '/publishers/acme/nodes/rank-b', { description: 'New', tags_admin: [] });
    const expected = { preempted_host_node_names: ['Blur'], search_ranking: 7, description: 'New' };
    const seen = await Promise.all(
      (['admin', 'ann', 'eve'] as Who[]).map((who) => ok(who, 'GET', '/nodes/rank-b')),
    );
    expect(seen).toMatchObject([expected, expected, expected]);
    expect(seen.map((node) => node.tags_admin)).toEqual([['reviewed'], undefined, undefined]);
    expect(seen.map((node) => node.status_detail)).toEqual(['looked at', 'looked at', undefined]);
    const found = await ok('guest', 'GET', '/nodes?search=ranked');
    expect(found.nodes.map(({ id }: Answered) => id)).toEqual(['rank-b', 'rank-a']);
    expect(await listAudited(2)).toEqual([
      'node.update - - ann@example.org',
      'node.update - - root@example.org',
    ]);
    expect((await set({ status_detail: '' })).status_detail).toBeUndefined();
  });

  it('refuses fields that are not set by admins, and large ones', async () => {
    const { as } = registry();
    const path = '/admin/nodes/rank-a';
    const wrong: [object, string][] = [
      [{ name: 'Other' }, 'name'],
      [{ tag_admin: ['x'] }, 'tag_admin'],
      [{ search_ranking: 2 ** 31 }, 'search_ranking'],
      [{ tags_admin: ['x'.repeat(2000)] }, 'tags_admin.0'],
      [{ tags_admin: new Array(200).fill('x'.repeat(1000)) }, 'node'],
    ];
    for (const [json, field] of wrong) {
      const { status, body } = await as('admin', 'PUT', path, json);
      expect([status, body.details[0].path]).toEqual([400, field]);
    }
  });
});

describe('a version that an admin changes', () => {
  const path = (version: string) => `/admin/nodes/judged/versions/${version}`;

  it('becomes Active, Flagged or Banned with a reason, and the latest version follows', async () => {
    const { ok, as, active } = registry();
    const first = await active('judged', '1.0.0');
    await active('judged', '2.0.0');
    const latest = async () => (await ok('guest', 'GET', '/nodes/judged')).latest_version?.version;
    const set = (version: string, status: string, status_reason?: string) =>
      ok('admin', 'PUT', path(version), { status: `NodeVersionStatus${status}`, status_reason });
    expect(await latest()).toBe('2.0.0');
    const banned = await set('2.0.0', 'Banned', 'malware');
    expect(banned).toMatchObject({ status: 'NodeVersionStatusBanned', status_reason: 'malware' });
    expect(await latest()).toBe('1.0.0');
    expect((await as('eve', 'GET', '/nodes/judged/versions/2.0.0')).status).toBe(404);
    expect((await ok('bob', 'GET', '/nodes/judged/versions/2.0.0')).status_reason).toBe('malware');
    await set('1.0.0', 'Flagged', 'suspicious');
    expect(await latest()).toBeUndefined();
    await set('1.0.0', 'Active');
    expect(await latest()).toBe('1.0.0');
    await set('2.0.0', 'Active');
    expect(await latest()).toBe('2.0.0');
    const history = await ok('ann', 'GET', `/publishers/acme/nodes/judged/versions/${first.id}/history`);
    expect(history.slice(-2)).toMatchObject([
      { status: 'NodeVersionStatusFlagged', reason: 'suspicious' },
      { status: 'NodeVersionStatusActive' },
    ]);
    const { events } = await ok('admin', 'GET', '/admin/audit?limit=1');
    expect(events).toMatchObject([
      { action: 'version.status', kind: 'version', node_id: 'judged', version: '2.0.0' },
    ]);
  });

  it('does not change by a transition that admins cannot make', async () => {
    const { ok, as, publish } = registry();
    const set = (version: string, status: string) =>
      readRefusal(as('admin', 'PUT', path(version), { status: `NodeVersionStatus${status}` }));
    expect(await set('1.0.0', 'Deleted')).toEqual([400, 'invalid_transition']);
    expect(await set('1.0.0', 'Pending')).toEqual([400, 'invalid_transition']);
    expect(await set('9.0.0', 'Active')).toEqual([404, 'not_found']);
    await publish('judged', '3.0.0');
    expect(await set('3.0.0', 'Active')).toEqual([400, 'invalid_transition']);
    await ok('ann', 'DELETE', '/publishers/acme/nodes/judged/versions/1.0.0');
    expect(await set('1.0.0', 'Active')).toEqual([400, 'invalid_transition']);
  });

  it('gets admin tags without a change of its status', async () => {
    const { ok, as } = registry();
    const tagged = await ok('admin', 'PUT', path('3.0.0'), { tags_admin: ['watch'] });
    expect(tagged).toMatchObject({ status: 'NodeVersionStatusPending', tags_admin: ['watch'] });
    expect((await ok('ann', 'GET', '/nodes/judged/versions/3.0.0')).tags_admin).toBeUndefined();
    for (const json of [{}, { status_reason: 'x' }, { status_reason: 'x', tags_admin: [] }]) {
      const { status, body } = await as('admin', 'PUT', path('3.0.0'), json);
      expect([status, body.details]).toEqual([400, [{ path: 'status', message: 'is required' }]]);
    }
  });
});

describe('a publisher that an admin bans', () => {
  it('hides its nodes, and restores them unchanged when it is unbanned', async () => {
    const { ok, as } = registry();
    await ok('eve', 'POST', '/publishers', { id: 'eve-co', name: 'Eve' });
    for (const id of ['eve-good', 'eve-bad'])
      await ok('eve', 'POST', '/publishers/eve-co/nodes', { id, name: id });
    await ok('admin', 'PUT', '/admin/nodes/eve-bad', { status: 'NodeStatusBanned', status_detail: 'own' });
    const { token } = await ok('eve', 'POST', '/publishers/eve-co/tokens', { name: 'ci' });
    const set = (status: string, reason?: string) =>
      ok('admin', 'PUT', '/admin/publishers/eve-co', { status: `PublisherStatus${status}`, reason });
    expect((await set('Banned', 'spam')).status).toBe('PublisherStatusBanned');

    for (const path of ['/publishers/eve-co', '/nodes/eve-good', '/publishers/eve-co/nodes/v2']) {
      expect([path, ...(await readRefusal(as('bob', 'GET', path)))]).toEqual([path, 403, 'banned']);
      expect([path, (await as('eve', 'GET', path)).status]).toEqual([path, 200]);
    }
    const detail = async (id: string) => (await ok('eve', 'GET', `/nodes/${id}`)).status_detail;
    expect(await detail('eve-good')).toBe('The publisher eve-co is banned: spam.');
    expect(await detail('eve-bad')).toBe('own');
    const write = await as('eve', 'PUT', '/publishers/eve-co', { name: 'x' });
    expect([write.status, write.body.message]).toEqual([403, 'The publisher eve-co is banned: spam.']);
    const publish = withToken(
      token,
      'POST',
      '/publishers/eve-co/nodes/eve-good/versions',
      publishBody(token, '1.0.0'),
    );
    expect(await readRefusal(publish)).toEqual([403, 'banned']);
    const another = () => as('eve', 'POST', '/publishers', { id: 'eve-again', name: 'Eve' });
    expect(await readRefusal(another())).toEqual([403, 'banned']);

    await set('Active');
    expect((await ok('bob', 'GET', '/nodes/eve-good')).status).toBe('NodeStatusActive');
    expect(await readRefusal(as('bob', 'GET', '/nodes/eve-bad'))).toEqual([403, 'banned']);
    expect(await detail('eve-good')).toBeUndefined();
    expect(await listAudited(2)).toEqual([
      'publisher.status PublisherStatusActive - root@example.org',
      'publisher.status PublisherStatusBanned spam root@example.org',
    ]);
    expect((await another()).status).toBe(201);
  });

  it('is recorded once; the same again changes nothing, a new reason does', async () => {
    const { ok, as } = registry();
    await ok('eve', 'POST', '/publishers', { id: 'eve-two', name: 'Eve' });
    const ban = (reason?: string) =>
      ok('admin', 'PUT', '/admin/publishers/eve-two', { status: 'PublisherStatusBanned', reason });
    const total = async () => (await ok('admin', 'GET', '/admin/audit')).total;
    await ban('spam');
    const before = await total();
    await ban();
    await ban('spam');
    expect(await total()).toBe(before);
    await ban('much spam');
    expect(await total()).toBe(before + 1);
    for (const json of [{}, { status: 'Banned' }, { status: 'PublisherStatusBanned', why: 'x' }]) {
      expect((await as('admin', 'PUT', '/admin/publishers/eve-two', json)).status).toBe(400);
    }
    const missing = as('admin', 'PUT', '/admin/publishers/no-such-publisher', {
      status: 'PublisherStatusBanned',
    });
    expect(await readRefusal(missing)).toEqual([404, 'not_found']);
  });
});

/** What every definition has. */
const flags = { deprecated: false, experimental: false };

describe('definitions that an admin sets', () => {
  const blur = {
    host_node_name: 'Blur',
    input_types: '{"required":{}}',
    return_types: '["IMAGE"]',
    return_names: '[]',
    output_is_list: [false],
  };
  const at = (version: string) => `/nodes/defined/versions/${version}/host-nodes`;

  it('are stored only once, while extraction is pending', async () => {
    const { ok, as, publish } = registry();
    await publish('defined', '1.0.0');
    const body = { success: true, nodes: { Blur: blur, Sharpen: { policy: 'HostNodePolicyLocalOnly' } } };
    expect(await readRefusal(as('ann', 'POST', at('1.0.0'), body))).toEqual([403, 'admin_required']);
    const key = { 'idempotency-key': 'define-1' };
    expect((await as('admin', 'POST', at('1.0.0'), body, key)).status).toBe(204);
    const replayed = await as('admin', 'POST', at('1.0.0'), body, key);
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([204, 'true']);
    expect(await readRefusal(as('admin', 'POST', at('1.0.0'), body))).toEqual([
      409,
      'definitions_already_set',
    ]);
    expect((await ok('ann', 'GET', at('1.0.0'))).host_nodes).toEqual([
      { ...flags, ...blur, policy: 'HostNodePolicyActive' },
      { ...flags, host_node_name: 'Sharpen', policy: 'HostNodePolicyLocalOnly' },
    ]);
    const version = await ok('ann', 'GET', '/nodes/defined/versions/1.0.0');
    expect(version.host_node_extract_status).toBe('success');
  });

  it('take precedence over the definitions of the upload, but not over a new registration of the number', async () => {
    const { ok, publish, url, tokens } = registry();
    await publish('defined', '1.1.0');
    await ok('admin', 'POST', at('1.1.0'), { success: true, nodes: { Mine: {} } });
    const again = await publish('defined', '1.1.0');
    expect(again.node_version.host_node_extract_status).toBe('pending');
    expect((await ok('ann', 'GET', at('1.1.0'))).host_nodes).toEqual([]);
    await ok('admin', 'POST', at('1.1.0'), { success: true, nodes: { Mine: {} } });
    const code = 'class A:\n    INPUT_TYPES = {}\nNODE_CLASS_MAPPINGS = {"A": A}\n';
    expect((await uploadArchive(again.signedUrl, await createZip({ '__init__.py': code }))).status).toBe(200);
    const checked = async () =>
      (await ask(`${url}/nodes/defined/versions/1.1.0`, { token: tokens.ann })).body.status;
    await expect.poll(checked).toBe('NodeVersionStatusActive');
    const { host_nodes } = await ok('ann', 'GET', at('1.1.0'));
    expect(host_nodes.map(({ host_node_name }: Answered) => host_node_name)).toEqual(['Mine']);
  });

  it('may be reported as failed, with a reason that the audit log keeps', async () => {
    const { ok, as, publish } = registry();
    await publish('defined', '1.2.0');
    const failed = { success: false, reason: 'import error' };
    expect((await as('admin', 'POST', at('1.2.0'), failed)).status).toBe(204);
    const version = await ok('ann', 'GET', '/nodes/defined/versions/1.2.0');
    expect(version.host_node_extract_status).toBe('failed');
    expect((await listAudited(1))[0]).toBe('version.definitions - import error root@example.org');
  });

  it('are all refused if one is invalid', async () => {
    const { ok, as, publish } = registry();
    await publish('defined', '1.3.0');
    const wrong: [object, string][] = [
      [{ nodes: {} }, 'success'],
      [{ success: true, nodes: { Blur: { colour: 'red' } } }, 'nodes.Blur.colour'],
      [{ success: true, nodes: { Blur: { host_node_name: 'Other' } } }, 'nodes.Blur.host_node_name'],
      [{ success: true, nodes: { Blur: { input_types: '[]' } } }, 'nodes.Blur.input_types'],
      [{ success: true, nodes: { Blur: { return_types: 'IMAGE' } } }, 'nodes.Blur.return_types'],
      [{ success: true, nodes: { Blur: { return_names: '{}' } } }, 'nodes.Blur.return_names'],
      [{ success: false, nodes: { Blur: {} } }, 'nodes'],
    ];
    for (const [json, field] of wrong) {
      const { status, body } = await as('admin', 'POST', at('1.3.0'), json);
      expect([status, body.details?.[0].path]).toEqual([400, field]);
    }
    await ok('ann', 'DELETE', '/publishers/acme/nodes/defined/versions/1.3.0');
    expect(await readRefusal(as('admin', 'POST', at('1.3.0'), { success: true }))).toEqual([
      404,
      'not_found',
    ]);
  });

  it('have a policy: banned ones are visible only to admins, local ones to everyone', async () => {
    const { ok, as } = registry();
    const path = '/nodes/defined/versions/1.0.0/host-nodes/Blur';
    const set = (policy: string) =>
      ok('admin', 'PUT', `/admin${path}`, { policy: `HostNodePolicy${policy}` });
    expect(await set('Banned')).toEqual({ ...flags, ...blur, policy: 'HostNodePolicyBanned' });
    expect((await as('ann', 'GET', path)).status).toBe(404);
    expect((await ok('admin', 'GET', path)).policy).toBe('HostNodePolicyBanned');
    await set('LocalOnly');
    expect((await ok('ann', 'GET', path)).policy).toBe('HostNodePolicyLocalOnly');
    await set('LocalOnly');
    const { events } = await ok('admin', 'GET', '/admin/audit?limit=2');
    expect(events.map(({ id, status }: Answered) => [id, status])).toEqual([
      ['defined@1.0.0/Blur', 'HostNodePolicyLocalOnly'],
      ['defined@1.0.0/Blur', 'HostNodePolicyBanned'],
    ]);
    const nothing = as('admin', 'PUT', `/admin${path}x`, { policy: 'HostNodePolicyBanned' });
    expect(await readRefusal(nothing)).toEqual([404, 'not_found']);
  });
});

describe('the audit log', () => {
  it('has pages, newest first, with each event once', async () => {
    const { ok, as } = registry();
    const first = await ok('admin', 'GET', '/admin/audit?limit=3');
    const second = await ok('admin', 'GET', '/admin/audit?limit=3&page=2');
    const both = await ok('admin', 'GET', '/admin/audit?limit=6');
    expect([...first.events, ...second.events]).toEqual(both.events);
    expect(first).toMatchObject({ limit: 3, page: 1, totalPages: Math.ceil(first.total / 3) });
    const times = both.events.map(({ at }: Answered) => Date.parse(at));
    expect(times).toEqual([...times].sort((left, right) => right - left));
    expect(await readRefusal(as('admin', 'GET', '/admin/audit?limit=101'))).toEqual([400, 'invalid_request']);
  });

  it("is read by a publisher's owners for what is theirs, with the addresses of members only", async () => {
    const { as, ok } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'watched', name: 'Watched' });
    await ok('ann', 'POST', '/publishers/watched/nodes', { id: 'watched-node', name: 'x' });
    const { id, token } = await ok('ann', 'POST', '/publishers/watched/tokens', { name: 'ci' });
    const body = publishBody(token, '1.0.0');
    await ok('ann', 'POST', '/publishers/watched/nodes/watched-node/versions', body);
    await ok('ann', 'DELETE', `/publishers/watched/tokens/${id}`);
    await ok('admin', 'PUT', '/admin/nodes/watched-node', { search_ranking: 1 });
    const { events, total } = await ok('ann', 'GET', '/publishers/watched/audit');
    const lines = events.map((event: Record<string, string>) => `${event.action} ${event.by_email ?? '-'}`);
    const ann = 'ann@example.org';
    expect(lines).toEqual([
      ...['node.update -', `token.revoke ${ann}`, `version.status ${ann}`, `token.create ${ann}`],
      ...[`node.create ${ann}`, `publisher.create ${ann}`],
    ]);
    expect(total).toBe(6);
    const page = await ok('ann', 'GET', '/publishers/watched/audit?limit=2&page=3');
    expect(page.events.map(({ action }: { action: string }) => action)).toEqual([
      'node.create',
      'publisher.create',
    ]);
    for (const who of ['bob', 'eve', 'pat'] as const) {
      expect((await as(who, 'GET', '/publishers/watched/audit')).status).toBe(403);
    }
  });
});
