import { describe, expect, it, onTestFinished } from 'vitest';
import { publishBody, registryForFile, startRegistry, type Who } from '../../support/registry.js';
import { ask } from '../../support/service.js';

const clock = { ms: 0 };
const registry = registryForFile(
  { quotas: { invitationsPerDay: 1_000 } },
  { now: () => Date.now() + clock.ms },
);
const DAY_MS = 86_400_000;

let publishers = 0;

/** A new publisher of Ann. */
async function createPublisher(): Promise<string> {
  const id = `team-${++publishers}x`;
  await registry().ok('ann', 'POST', '/publishers', { id, name: 'Team' });
  return id;
}

const invitePerson = (id: string, who: string, role = 'owner', by: Who = 'ann') =>
  registry().as(by, 'POST', `/publishers/${id}/members`, { email: `${who}@example.org`, role });
const acceptInvitation = (who: Who, id: string) =>
  registry().as(who, 'POST', `/users/invitations/${id}/accept`);
const declineInvitation = (who: Who, id: string) =>
  registry().as(who, 'POST', `/users/invitations/${id}/decline`);
const listInvitations = async (who: Who) =>
  ((await registry().ok(who, 'GET', '/users/invitations')) as { publisher_id: string }[]).map(
    ({ publisher_id }) => publisher_id,
  );
const listPublishers = async (who: Who) =>
  ((await registry().ok(who, 'GET', '/users/me')).publishers as { id: string }[]).map(({ id }) => id);
const listMembers = (id: string, who: Who = 'ann') => registry().ok(who, 'GET', `/publishers/${id}/members`);
const readUserId = async (who: Who) => (await registry().ok(who, 'GET', '/users/me')).id as string;
const leavePublisher = async (who: Who, id: string) =>
  registry().as(who, 'DELETE', `/publishers/${id}/members/${await readUserId(who)}`);

describe('an invitation', () => {
  it('makes a member of the person who accepts it, and nothing before', async () => {
    const id = await createPublisher();
    await invitePerson(id, 'EVE');
    expect(await listPublishers('eve')).not.toContain(id);
    expect((await registry().as('eve', 'GET', `/publishers/${id}/members`)).status).toBe(403);
    const mine = await registry().ok('eve', 'GET', '/users/invitations');
    expect(mine[0]).toMatchObject({ publisher_id: id, role: 'owner', invited_by: 'ann@example.org' });
    expect((await acceptInvitation('eve', id)).body).toMatchObject({
      role: 'owner',
      user: { email: 'eve@example.org' },
    });
    expect(await listPublishers('eve')).toContain(id);
    expect(await listInvitations('eve')).not.toContain(id);
    const { events } = await registry().ok('ann', 'GET', `/publishers/${id}/audit?limit=2`);
    expect(events.map(({ action }: { action: string }) => action)).toEqual(['member.join', 'member.invite']);
  });

  it('is answered and listed alike whether or not the address has an account', async () => {
    const id = await createPublisher();
    const known = (await invitePerson(id, 'eve')).body;
    const unknown = (await invitePerson(id, 'unheard-of')).body;
    const blank = ({ id: _, expires_at: __, user, ...rest }: Record<string, unknown>) => ({
      ...rest,
      user: Object.keys(user as object),
    });
    expect(blank(known)).toEqual(blank(unknown));
    expect(blank(known)).toEqual({ role: 'owner', pending: true, user: ['email'] });
    const pending = (await listMembers(id)).filter((one: { pending?: boolean }) => one.pending);
    expect(pending).toEqual([known, unknown]);
    expect(JSON.stringify(pending)).not.toContain(await readUserId('eve'));
    // Nor does the log say who declined.
    await declineInvitation('eve', id);
    const { events } = await registry().ok('ann', 'GET', `/publishers/${id}/audit`);
    expect(JSON.stringify(events)).not.toContain(await readUserId('eve'));
    expect(await listMembers(id)).toHaveLength(2);
  });

  it('is for who signs in with the address later, once', async () => {
    const { service, url } = registry();
    const id = await createPublisher();
    await invitePerson(id, 'zoe', 'member');
    const tokens = [
      await service.signFor({ sub: 'zoe', email: 'Zoe@Example.org' }),
      await service.signFor({ sub: 'zoe-again', email: 'zoe@example.org' }),
      await service.signFor({ sub: 'other', email: 'other@example.org' }),
    ];
    const answers = [];
    for (const token of [tokens[2], tokens[0], tokens[1], tokens[0]])
      answers.push((await ask(`${url}/users/invitations/${id}/accept`, { method: 'POST', token })).status);
    expect(answers).toEqual([404, 200, 404, 200]);
  });

  it('is declined or withdrawn for good, and does not come back', async () => {
    const id = await createPublisher();
    await invitePerson(id, 'eve');
    expect((await declineInvitation('eve', id)).status).toBe(204);
    expect((await declineInvitation('eve', id)).status).toBe(404);
    expect((await acceptInvitation('eve', id)).status).toBe(404);
    const again = (await invitePerson(id, 'eve')).body;
    const withdrawn = await registry().as('ann', 'DELETE', `/publishers/${id}/members/${again.id}`);
    expect(withdrawn.status).toBe(204);
    expect((await acceptInvitation('eve', id)).status).toBe(404);
  });

  it('is repeated with the same answer, and changed only by withdrawing it', async () => {
    const id = await createPublisher();
    const first = await invitePerson(id, 'eve', 'member');
    expect((await invitePerson(id, 'Eve', 'member')).body).toEqual(first.body);
    const other = await invitePerson(id, 'eve', 'owner');
    expect([other.status, other.body.error]).toEqual([400, 'invalid_request']);
    expect((await acceptInvitation('eve', id)).body.role).toBe('member');
  });

  it('ends after 30 days', async () => {
    const id = await createPublisher();
    await invitePerson(id, 'bob', 'member');
    clock.ms += 29 * DAY_MS;
    const { service, tokens } = registry();
    const fresh = async () => {
      for (const who of ['ann', 'bob'] as const)
        tokens[who] = await service.signFor({ sub: who, email: `${who}@example.org`, name: who });
    };
    onTestFinished(async () => {
      clock.ms = 0;
      await fresh();
    });
    await fresh();
    expect(await listInvitations('bob')).toContain(id);
    clock.ms += 2 * DAY_MS;
    await fresh();
    expect(await listInvitations('bob')).not.toContain(id);
    expect((await acceptInvitation('bob', id)).status).toBe(404);
    expect(await listMembers(id)).toHaveLength(1);
    expect((await invitePerson(id, 'bob', 'member')).status).toBe(200);
  });

  it('ends with its publisher, also if the id is registered again', async () => {
    const id = await createPublisher();
    await invitePerson(id, 'eve');
    await registry().ok('ann', 'DELETE', `/publishers/${id}`);
    await registry().ok('bob', 'POST', '/publishers', { id, name: 'Bob' });
    expect(await listInvitations('eve')).not.toContain(id);
    expect((await acceptInvitation('eve', id)).status).toBe(404);
  });

  it('cannot be accepted while the publisher is banned, and can be declined', async () => {
    const { ok } = registry();
    const id = await createPublisher();
    await invitePerson(id, 'eve');
    await ok('admin', 'PUT', `/admin/publishers/${id}`, { status: 'PublisherStatusBanned' });
    expect(await listInvitations('eve')).not.toContain(id);
    expect((await acceptInvitation('eve', id)).body.error).toBe('banned');
    expect((await declineInvitation('eve', id)).status).toBe(204);
    await ok('admin', 'PUT', `/admin/publishers/${id}`, { status: 'PublisherStatusActive' });
    expect((await acceptInvitation('eve', id)).status).toBe(404);
  });

  it('ends with the ownership of who sent it', async () => {
    const { ok, join } = registry();
    const id = await createPublisher();
    await join('eve', id, 'owner');
    await invitePerson(id, 'bob', 'owner', 'eve');
    await ok('ann', 'PUT', `/publishers/${id}/members/${await readUserId('eve')}`, { role: 'member' });
    expect((await acceptInvitation('bob', id)).status).toBe(404);
  });

  it('to own a publisher ends with the membership', async () => {
    const { ok, join } = registry();
    const id = await createPublisher();
    await join('eve', id, 'member');
    await ok('ann', 'PUT', `/publishers/${id}/members/${await readUserId('eve')}`, { role: 'owner' });
    await ok('ann', 'DELETE', `/publishers/${id}/members/${await readUserId('eve')}`);
    expect((await acceptInvitation('eve', id)).status).toBe(404);
    await join('eve', id, 'member');
    expect((await acceptInvitation('eve', id)).body.role).toBe('member');
  });

  it('is taken by one of accepting and withdrawing at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await createPublisher();
      const { id: invitation } = (await invitePerson(id, 'eve')).body;
      const [accepted, withdrawn] = await Promise.all([
        acceptInvitation('eve', id),
        registry().as('ann', 'DELETE', `/publishers/${id}/members/${invitation}`),
      ]);
      const isMember = (await listPublishers('eve')).includes(id);
      expect([accepted.status, withdrawn.status]).toEqual(isMember ? [200, 404] : [404, 204]);
      await registry().ok('ann', 'DELETE', `/publishers/${id}`);
    }
  });

  it('makes one membership when it is accepted twice at the same time', async () => {
    const id = await createPublisher();
    await invitePerson(id, 'eve', 'member');
    const answers = await Promise.all([acceptInvitation('eve', id), acceptInvitation('eve', id)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { events } = await registry().ok('ann', 'GET', `/publishers/${id}/audit`);
    expect(events.filter(({ action }: { action: string }) => action === 'member.join')).toHaveLength(1);
  });

  it('can be answered only with the credential of the invited person', async () => {
    const { ok, url } = registry();
    const id = await createPublisher();
    const { token: key } = await ok('bob', 'POST', '/users/keys', { name: 'script' });
    await invitePerson(id, 'bob', 'member');
    for (const [method, path] of [
      ['GET', '/users/invitations'],
      ['POST', `/users/invitations/${id}/accept`],
    ] as const)
      expect((await ask(url + path, { method, token: key })).status).toBe(403);
  });
});

describe('a person who was invited to own publishers', () => {
  it('keeps the own quota, is not stopped by a ban, and holds up no owner', async () => {
    const small = await startRegistry({ quotas: { publishers: 2 } });
    onTestFinished(() => small.service.stop());
    const { ok, as } = small;
    const bob = (id: string) => as('bob', 'POST', '/publishers', { id, name: 'Mine' });
    for (const id of ['trap-a', 'trap-b']) {
      await ok('eve', 'POST', '/publishers', { id, name: 'Trap' });
      const { token } = await ok('eve', 'POST', `/publishers/${id}/tokens`, { name: 'ci' });
      await ok('eve', 'POST', `/publishers/${id}/nodes/node-${id}/versions`, publishBody(token, '1.0.0'));
      await ok('eve', 'POST', `/publishers/${id}/members`, { email: 'bob@example.org', role: 'owner' });
      const { id: eve } = await ok('eve', 'GET', '/users/me');
      const left = await as('eve', 'DELETE', `/publishers/${id}/members/${eve}`);
      expect([left.status, left.body.error]).toEqual([400, 'invalid_request']);
    }
    await ok('admin', 'PUT', '/admin/publishers/trap-a', { status: 'PublisherStatusBanned' });
    expect((await bob('mine-a')).status).toBe(201);
    expect((await bob('mine-b')).status).toBe(201);
    expect((await bob('mine-c')).body.error).toBe('quota_exceeded');
  });

  it('is not made one by a change of the role', async () => {
    const { ok, join } = registry();
    const id = await createPublisher();
    await join('eve', id, 'member');
    const eve = await readUserId('eve');
    await ok('ann', 'PUT', `/publishers/${id}/members/${eve}`, { role: 'owner' });
    expect((await leavePublisher('ann', id)).status).toBe(400);
    const roles = (await ok('eve', 'GET', '/users/me')).publishers as { id: string; role: string }[];
    expect(roles.find((one) => one.id === id)?.role).toBe('member');
    // The offer is withdrawn by setting the role that the member has.
    await ok('ann', 'PUT', `/publishers/${id}/members/${eve}`, { role: 'member' });
    expect((await acceptInvitation('eve', id)).body.role).toBe('member');
  });
});

describe('admins and the embedded owner', () => {
  it.each(['admin', 'embedded owner'])(
    'remove the last owner of a publisher, and assign another: %s',
    async (by) => {
      const { service, url, tokens } = registry();
      const id = await createPublisher();
      const token = by === 'admin' ? tokens.admin : service.ownerToken;
      const path = (userId: string) => `${url}/admin/publishers/${id}/members/${userId}`;
      const [ann, eve] = [await readUserId('ann'), await readUserId('eve')];
      const { id: invitation } = (await invitePerson(id, 'bob')).body;
      await registry().ok('admin', 'PUT', `/admin/publishers/${id}`, { status: 'PublisherStatusBanned' });
      expect((await ask(path(ann), { method: 'DELETE', token })).status).toBe(204);
      expect(await listPublishers('ann')).not.toContain(id);
      expect((await ask(path(invitation), { method: 'DELETE', token })).status).toBe(404);
      const assigned = await ask(path(eve), { method: 'PUT', token, json: { role: 'owner' } });
      expect(assigned.body).toMatchObject({ id: eve, role: 'owner' });
      expect((await ask(path('missing'), { method: 'PUT', token, json: { role: 'owner' } })).status).toBe(
        404,
      );
      const { events } = await registry().ok('admin', 'GET', '/admin/audit?kind=member&limit=2');
      expect(events.map(({ action, id }: { action: string; id: string }) => [action, id])).toEqual([
        ['member.set', `${id}/${eve}`],
        ['member.remove', `${id}/${ann}`],
      ]);
      await ask(path(eve), { method: 'DELETE', token });
    },
  );
});

it('people are invited a limited number of times a day, accepted, declined or not', async () => {
  const small = await startRegistry({ quotas: { invitationsPerDay: 3 } });
  onTestFinished(() => small.service.stop());
  const { ok, as } = small;
  await ok('ann', 'POST', '/publishers', { id: 'letters', name: 'Letters' });
  const send = (email: string) => as('ann', 'POST', '/publishers/letters/members', { email, role: 'member' });
  // One was sent for Bob.
  for (const at of [1, 2]) {
    const { body } = await send(`a${at}@example.org`);
    await ok('ann', 'DELETE', `/publishers/letters/members/${body.id}`);
  }
  const refused = await send('a3@example.org');
  expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
});
