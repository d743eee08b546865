import { describe, expect, it } from 'vitest';
import { refreshNodes } from '../../../src/service/registry/listed-host-nodes.js';
import { registryForFile } from '../../support/registry.js';
import { ask } from '../../support/service.js';

const registry = registryForFile();
const banPublisher = (id: string) =>
  registry().change(async (tx) => {
    await tx
      .updateTable('publishers')
      .set({ status: 'PublisherStatusBanned', status_reason: 'spam' })
      .where('id', '=', id)
      .execute();
    await refreshNodes(tx, id);
  });

describe('a publisher', () => {
  it('is created with its creator as the first owner', async () => {
    const { as } = registry();
    const body = {
      id: 'newco',
      name: 'Newco',
      website: 'https://example.org',
      status: 'PublisherStatusBanned',
    };
    const created = await as('eve', 'POST', '/publishers', body);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      id: 'newco',
      name: 'Newco',
      website: 'https://example.org',
      status: 'PublisherStatusActive',
      members: [{ role: 'owner', user: { email: 'eve@example.org', name: 'eve' } }],
    });
    expect(Date.parse(created.body.createdAt)).toBeGreaterThan(0);
  });

  it('cannot be created twice, nor with an invalid id', async () => {
    const { as } = registry();
    const taken = await as('eve', 'POST', '/publishers', { id: 'acme', name: 'Mine' });
    expect([taken.status, taken.body.error]).toEqual([400, 'duplicate_publisher']);
    for (const id of ['ab', 'Acme', '1acme', 'a'.repeat(51), 'a_b']) {
      const answer = await as('eve', 'POST', '/publishers', { id, name: 'Mine' });
      expect([id, answer.status, answer.body.details?.[0].path]).toEqual([id, 400, 'id']);
    }
  });

  it('needs an id that differs in more than hyphens from every other, and is not reserved', async () => {
    const { as, service } = registry();
    const create = (id: string) => as('eve', 'POST', '/publishers', { id, name: 'Mine' });
    const similar = await create('ac-me');
    expect([similar.status, similar.body.error]).toEqual([400, 'duplicate_publisher']);
    expect(similar.body.message).toContain('too similar to acme');
    for (const id of ['official', 'reg-en', 'com1', 'regen-official', 'security-team', 'acme-0fficial']) {
      const { status, body } = await create(id);
      expect([id, status, body.error, body.details[0].path]).toEqual([id, 400, 'invalid_request', 'id']);
    }
    const token = await service.signFor({ sub: 'another-admin', roles: ['admin'] });
    const json = { id: 'official', name: 'Official' };
    expect((await ask(`${service.url}/publishers`, { method: 'POST', token, json })).status).toBe(201);
  });

  it('that was deleted does not show its events to who registers the id next', async () => {
    const { ok } = registry();
    const events = async (who: 'eve' | 'bob') =>
      (await ok(who, 'GET', '/publishers/passed-on/audit')).events.map(
        ({ action }: { action: string }) => action,
      );
    await ok('eve', 'POST', '/publishers', { id: 'passed-on', name: 'Eve' });
    const { id } = await ok('eve', 'POST', '/publishers/passed-on/tokens', { name: 'ci' });
    expect(await events('eve')).toEqual(['token.create', 'publisher.create']);
    await ok('eve', 'DELETE', '/publishers/passed-on');
    await ok('bob', 'POST', '/publishers', { id: 'passed-on', name: 'Bob' });
    expect(await events('bob')).toEqual(['publisher.create']);
    const all = await ok('admin', 'GET', '/admin/audit?kind=token');
    expect(all.events[0]).toMatchObject({ id });
    await ok('bob', 'DELETE', '/publishers/passed-on');
  });

  it('is created once by two concurrent requests', async () => {
    const { as } = registry();
    const make = (who: 'ann' | 'eve') => as(who, 'POST', '/publishers', { id: 'contested', name: 'Mine' });
    const statuses = (await Promise.all([make('ann'), make('eve')])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 400]);
  });

  it('shows its members only to members and admins', async () => {
    const { ok } = registry();
    const seen = async (who: 'ann' | 'bob' | 'pat' | 'admin' | 'eve' | 'guest') =>
      (await ok(who, 'GET', '/publishers/acme')).members?.length;
    expect(await Promise.all([seen('ann'), seen('bob'), seen('pat'), seen('admin')])).toEqual([2, 2, 2, 2]);
    expect(await Promise.all([seen('eve'), seen('guest')])).toEqual([undefined, undefined]);
  });

  it('is updated field by field, ignoring read-only and unknown fields', async () => {
    const { as } = registry();
    const body = {
      description: 'Things',
      id: 'acme',
      createdAt: '2000-01-01T00:00:00Z',
      members: [],
      colour: 1,
    };
    const first = await as('ann', 'PUT', '/publishers/acme', body);
    const second = await as('ann', 'PUT', '/publishers/acme', { support: 'mail' });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toMatchObject({ name: 'Acme', description: 'Things', support: 'mail' });
    expect(second.body.createdAt).not.toContain('2000');
    expect(second.body.members).toHaveLength(2);
    const other = await as('ann', 'PUT', '/publishers/acme', { id: 'other' });
    expect([other.status, other.body.details[0].path]).toEqual([400, 'id']);
  });

  it('is listed for its members', async () => {
    const { ok } = registry();
    const ids = async (who: 'bob' | 'pat' | 'admin') =>
      (await ok(who, 'GET', '/users/publishers')).map(({ id }: { id: string }) => id);
    expect(await Promise.all([ids('bob'), ids('pat'), ids('admin')])).toEqual([['acme'], ['acme'], []]);
  });

  it('cannot be started by the owner of a banned one, until the ban is lifted', async () => {
    const { as, ok, join } = registry();
    await ok('eve', 'POST', '/publishers', { id: 'spammer', name: 'Spammer' });
    await join('bob', 'spammer', 'member', 'eve');
    await banPublisher('spammer');
    const again = await as('eve', 'POST', '/publishers', { id: 'spammer-two', name: 'Again' });
    expect([again.status, again.body.error]).toEqual([403, 'banned']);
    expect((await as('bob', 'POST', '/publishers', { id: 'bobs-own', name: 'Bob' })).status).toBe(201);
    await ok('admin', 'PUT', '/admin/publishers/spammer', { status: 'PublisherStatusActive' });
    await ok('eve', 'POST', '/publishers', { id: 'spammer-two', name: 'Again' });
  });

  it('that is banned is visible only to members and admins, and cannot be changed', async () => {
    const { as, ok } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'badco', name: 'Bad' });
    await ok('ann', 'POST', '/publishers/badco/nodes', { id: 'bad-node', name: 'Bad' });
    await banPublisher('badco');
    for (const path of ['/publishers/badco', '/nodes/bad-node', '/publishers/badco/nodes/v2']) {
      const outsider = await as('eve', 'GET', path);
      expect([path, outsider.status, outsider.body.error]).toEqual([path, 403, 'banned']);
      expect([path, (await as('ann', 'GET', path)).status]).toEqual([path, 200]);
      expect([path, (await as('admin', 'GET', path)).status]).toEqual([path, 200]);
    }
    const write = await as('ann', 'PUT', '/publishers/badco', { name: 'Good' });
    expect([write.status, write.body.error]).toEqual([403, 'banned']);
    expect(write.body.message).toContain('spam');
    expect((await ok('ann', 'GET', '/nodes?search=bad-node')).nodes).toEqual([]);
  });
});
