import { describe, expect, it } from 'vitest';
import { publishBody, registryForFile } from '../../support/registry.js';
import { ask } from '../../support/service.js';

const clock = { offset: 0 };
const registry = registryForFile({}, { now: () => Date.now() + clock.offset });
const day = 24 * 3_600_000;

const createPublisher = (key: string, id: string, who: 'ann' | 'eve' = 'ann', name = 'N') =>
  registry().as(who, 'POST', '/publishers', { id, name }, { 'idempotency-key': key });

describe('a POST with an Idempotency-Key', () => {
  it('runs once, and gets the same answer when it is repeated', async () => {
    const [first, second] = [await createPublisher('k1', 'once'), await createPublisher('k1', 'once')];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect([first, second].map(({ headers }) => headers.get('idempotency-key'))).toEqual(['k1', 'k1']);
  });

  it('is refused if the key was used for another body or path', async () => {
    await createPublisher('k2', 'twice');
    const other = await createPublisher('k2', 'twice', 'ann', 'Other');
    expect([other.status, other.body.error]).toEqual([400, 'idempotency_mismatch']);
    const key = { 'idempotency-key': 'k3' };
    const body = { email: 'x@example.org', role: 'member' };
    await registry().ok('ann', 'POST', '/publishers', { id: 'path-a', name: 'A' });
    const first = await registry().as('ann', 'POST', '/publishers/acme/members', body, key);
    const second = await registry().as('ann', 'POST', '/publishers/path-a/members', body, key);
    expect([first.status, second.status, second.body.error]).toEqual([200, 400, 'idempotency_mismatch']);
  });

  it('does not share its key with other callers or operations', async () => {
    await createPublisher('k4', 'mine');
    const other = await createPublisher('k4', 'mine', 'eve');
    expect(other.body.error).toBe('duplicate_publisher');
    const node = await registry().as(
      'ann',
      'POST',
      '/publishers/mine/nodes',
      { id: 'n1', name: 'N' },
      { 'idempotency-key': 'k4' },
    );
    expect(node.status).toBe(201);
  });

  it('that was refused can be fixed and sent again', async () => {
    expect((await createPublisher('k5', 'UPPER')).status).toBe(400);
    expect((await createPublisher('k5', 'lower')).status).toBe(201);
  });

  it('can be repeated as a new request after 7 days', async () => {
    await createPublisher('k6', 'week');
    clock.offset += 7 * day - 60_000;
    // The users' tokens have expired by now.
    const token = await registry().service.signFor({ sub: 'ann' });
    const again = () =>
      ask(`${registry().url}/publishers`, {
        method: 'POST',
        token,
        json: { id: 'week', name: 'N' },
        headers: { 'idempotency-key': 'k6' },
      });
    expect((await again()).headers.get('idempotent-replayed')).toBe('true');
    clock.offset += 60_000 + 1_000;
    expect((await again()).body.error).toBe('duplicate_publisher');
    clock.offset = 0;
  });

  it('runs once if it is sent concurrently, and the others get its answer or in_progress', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => createPublisher('k7', 'crowd')));
    const received = answers.map(({ status, body }) => (status === 201 ? 'created' : body.error));
    expect(received).toContain('created');
    for (const one of received) expect(['created', 'idempotency_in_flight']).toContain(one);
    expect(
      answers.filter(({ status, headers }) => status === 201 && !headers.get('idempotent-replayed')),
    ).toHaveLength(1);
  });

  it('is refused while the first one is in progress', async () => {
    const { context } = registry().service;
    const { enqueue } = context.queue;
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const begun = new Promise<void>((resolve) => {
      const held: typeof enqueue = async (...job) => {
        resolve();
        await gate;
        return enqueue.apply(context.queue, job);
      };
      Object.assign(context.queue, { enqueue: held });
    });
    const send = () => {
      const body = publishBody(registry().tokens.pat, '1.0.0');
      const key = { 'idempotency-key': 'k8' };
      return registry().as('ann', 'POST', '/publishers/acme/nodes/slow/versions', body, key);
    };
    const first = send();
    await begun;
    const second = await send();
    expect([second.status, second.body.error]).toEqual([409, 'idempotency_in_flight']);
    goOn();
    expect((await first).status).toBe(201);
    Object.assign(context.queue, { enqueue });
    expect((await send()).headers.get('idempotent-replayed')).toBe('true');
  });

  it.each(['', 'x'.repeat(256), 'tab\there', 'ünicode'])('is refused if the key is %j', async (key) => {
    const { status, body } = await createPublisher(key, 'never');
    expect([status, body.details[0].path]).toEqual([400, 'Idempotency-Key']);
  });
});

describe('a repeated publish', () => {
  const path = '/publishers/acme/nodes/keyed/versions';

  it('returns a new signedUrl, which is not stored', async () => {
    const { as, tokens, service } = registry();
    const send = () => as('ann', 'POST', path, publishBody(tokens.pat, '1.0.0'), { 'idempotency-key': 'p1' });
    const first = await send();
    clock.offset += 10_000;
    const second = await send();
    clock.offset = 0;
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.body.node_version).toEqual(first.body.node_version);
    expect(second.body.signedUrl).toMatch(/^http.*signature=/);
    expect(second.body.signedUrl).not.toBe(first.body.signedUrl);
    const rows = await service.context.database.selectFrom('idempotency').selectAll().execute();
    expect(rows.map(({ key }) => key)).toContain('p1');
    for (const secret of ['signature=', tokens.pat as string])
      expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it('is refused once its personal access token is revoked', async () => {
    const { as, ok } = registry();
    const made = await ok('ann', 'POST', '/publishers/acme/tokens', { name: 'brief' });
    const send = () => as('ann', 'POST', path, publishBody(made.token, '1.1.0'), { 'idempotency-key': 'p2' });
    expect((await send()).status).toBe(201);
    await ok('ann', 'DELETE', `/publishers/acme/tokens/${made.id}`);
    expect((await send()).body.error).toBe('invalid_personal_access_token');
  });
});

describe('a repeated publish', () => {
  const send = (id: string) => {
    const path = `/publishers/acme/nodes/${id}/versions`;
    const body = publishBody(registry().tokens.pat, '1.0.0');
    return registry().as('ann', 'POST', path, body, { 'idempotency-key': id });
  };

  it('is refused if the node was banned in between', async () => {
    expect((await send('frowned')).status).toBe(201);
    await registry().ok('admin', 'PUT', '/admin/nodes/frowned', { status: 'NodeStatusBanned' });
    const again = await send('frowned');
    expect([again.status, again.body.error]).toEqual([403, 'banned']);
  });

  it('is refused if the node was deleted in between', async () => {
    expect((await send('dropped')).status).toBe(201);
    await registry().ok('ann', 'DELETE', '/publishers/acme/nodes/dropped');
    expect((await send('dropped')).body.error).toBe('node_deleted');
  });
});

describe('a key of an operation that does not support keys', () => {
  it('creates two tokens and is not returned, because a secret is never stored', async () => {
    const { as } = registry();
    const send = () =>
      as('ann', 'POST', '/publishers/acme/tokens', { name: 'two' }, { 'idempotency-key': 't1' });
    const [first, second] = [await send(), await send()];
    expect(first.body.id).not.toBe(second.body.id);
    expect(first.headers.get('idempotency-key')).toBeNull();
  });

  it('does not freeze the answer of a bulk read', async () => {
    const { as, active } = registry();
    const body = { node_versions: [{ node_id: 'later', version: '1.0.0' }] };
    const send = async () => {
      const answer = await as('guest', 'POST', '/bulk/nodes/versions', body, { 'idempotency-key': 'b1' });
      expect(answer.headers.get('idempotency-key')).toBe('b1');
      return answer.body.node_versions[0].status;
    };
    expect(await send()).toBe('not_found');
    await active('later', '1.0.0');
    expect(await send()).toBe('success');
  });
});
