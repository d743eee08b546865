import { describe, expect, it } from 'vitest';
import { publishBody, type Registry, registryForFile } from '../../support/registry.js';
import { ask, upload } from '../../support/service.js';

const registry = registryForFile();

async function idOf(who: Parameters<Registry['ok']>[0]): Promise<string> {
  return (await registry().ok(who, 'GET', '/users/me')).id;
}

describe('members of a publisher', () => {
  it('are listed for members, in the order of their ids', async () => {
    const { ok } = registry();
    const members = await ok('bob', 'GET', '/publishers/acme/members');
    expect(members.map(({ role }: { role: string }) => role).sort()).toEqual(['member', 'owner']);
    expect(members.map(({ id }: { id: string }) => id)).toEqual(
      [await idOf('ann'), await idOf('bob')].sort(),
    );
  });

  it('can be added before they sign in, and become members when they do', async () => {
    const { ok, service, url } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'invites', name: 'Invites' });
    const added = await ok('ann', 'POST', '/publishers/invites/members', {
      email: 'Zoe@Example.org',
      role: 'owner',
    });
    expect(added).toMatchObject({ role: 'owner', user: { email: 'zoe@example.org' } });
    const token = await service.signFor({ sub: 'zoe', email: 'zoe@example.ORG' });
    const answer = await ask(`${url}/users/me`, { token });
    expect(answer.body).toMatchObject({ publishers: [{ id: 'invites', role: 'owner' }] });
    expect(await ok('ann', 'GET', '/publishers/invites/members')).toHaveLength(2);
    const { events } = await ok('admin', 'GET', '/admin/audit?limit=2');
    const zoe = { kind: 'member', id: `invites/${answer.body.id}`, by_email: 'zoe@example.org' };
    expect(events[0]).toMatchObject({ action: 'member.join', ...zoe });
    expect(events[1]).toMatchObject({ action: 'member.add', reason: 'owner', by_email: 'ann@example.org' });
  });

  it('are found by their address once their token has it', async () => {
    const { ok, service, url } = registry();
    const publishersOf = async (token: string) => (await ask(`${url}/users/me`, { token })).body.publishers;
    expect(await publishersOf(await service.signFor({ sub: 'yan' }))).toEqual([]);
    await ok('ann', 'POST', '/publishers/acme/members', { email: 'yan@example.org', role: 'member' });
    const token = await service.signFor({ sub: 'yan', email: 'yan@example.org' });
    expect(await publishersOf(token)).toEqual([{ id: 'acme', role: 'member' }]);
    const yan = (await ask(`${url}/users/me`, { token })).body.id;
    await ok('ann', 'DELETE', `/publishers/acme/members/${yan}`);
  });

  it('cannot be added twice, and change their role by PUT', async () => {
    const { as, ok } = registry();
    const bob = await idOf('bob');
    const add = (role: string) =>
      as('ann', 'POST', '/publishers/acme/members', { email: 'bob@example.org', role });
    expect((await add('member')).status).toBe(200);
    expect((await add('owner')).body.message).toContain('PUT');
    expect(await ok('ann', 'GET', '/publishers/acme/members')).toHaveLength(2);
    const promoted = await ok('ann', 'PUT', `/publishers/acme/members/${bob}`, { role: 'owner' });
    expect(promoted).toMatchObject({ id: bob, role: 'owner' });
    await ok('bob', 'PUT', `/publishers/acme/members/${bob}`, { role: 'member' });
    expect((await as('bob', 'PUT', `/publishers/acme/members/${bob}`, { role: 'owner' })).status).toBe(403);
  });

  it('always include an owner, even when two leave at the same time', async () => {
    const { as, ok } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'pair', name: 'Pair' });
    const [ann, eve] = [await idOf('ann'), await idOf('eve')];
    const alone = await as('ann', 'DELETE', `/publishers/pair/members/${ann}`);
    expect([alone.status, alone.body.error]).toEqual([400, 'invalid_request']);
    expect((await as('ann', 'PUT', `/publishers/pair/members/${ann}`, { role: 'member' })).status).toBe(400);
    await ok('ann', 'POST', '/publishers/pair/members', { email: 'eve@example.org', role: 'owner' });
    const leaving = [
      as('ann', 'DELETE', `/publishers/pair/members/${ann}`),
      as('eve', 'DELETE', `/publishers/pair/members/${eve}`),
    ];
    expect((await Promise.all(leaving)).map(({ status }) => status).sort()).toEqual([204, 400]);
  });

  it('always include an owner, even when two remove each other at the same time', async () => {
    const { as, ok } = registry();
    const [ann, eve] = [await idOf('ann'), await idOf('eve')];
    for (const action of ['DELETE', 'PUT']) {
      const id = `rivals-${action.toLowerCase()}`;
      await ok('ann', 'POST', '/publishers', { id, name: 'Rivals' });
      await ok('ann', 'POST', `/publishers/${id}/members`, { email: 'eve@example.org', role: 'owner' });
      const json = action === 'PUT' ? { role: 'member' } : undefined;
      const attacks = await Promise.all([
        as('ann', action, `/publishers/${id}/members/${eve}`, json),
        as('eve', action, `/publishers/${id}/members/${ann}`, json),
      ]);
      const answers = attacks.map(({ status }) => status).sort();
      expect([action, ...answers]).toEqual([action, action === 'PUT' ? 200 : 204, 403]);
      const members = await ok('admin', 'GET', `/publishers/${id}/members`);
      expect(members.filter(({ role }: { role: string }) => role === 'owner')).toHaveLength(1);
    }
  });

  it('count as owners only after they have signed in', async () => {
    const { as, ok, service, url } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'waiting', name: 'Waiting' });
    const ann = `/publishers/waiting/members/${await idOf('ann')}`;
    const invite = (email: string) =>
      ok('ann', 'POST', '/publishers/waiting/members', { email, role: 'owner' });
    const mistyped = await invite('nobody@example.invalid');
    await invite('max@example.org');
    expect((await as('ann', 'DELETE', ann)).status).toBe(400);
    expect((await as('ann', 'PUT', ann, { role: 'member' })).status).toBe(400);
    await ok('ann', 'DELETE', `/publishers/waiting/members/${mistyped.id}`);
    await ask(`${url}/users/me`, {
      token: await service.signFor({ sub: 'max', email: 'max@example.org' }),
    });
    expect((await as('ann', 'DELETE', ann)).status).toBe(204);
  });

  it.each([
    ['member', 'owner'],
    ['owner', 'member'],
  ])('become owners if they are %s and accept an invitation as %s', async (role, invited) => {
    const { ok, service, url } = registry();
    const id = `both-${role}`;
    const me = async (email: string) => {
      const token = await service.signFor({ sub: id, email });
      return (await ask(`${url}/users/me`, { token })).body;
    };
    await me(`${id}@example.org`);
    await ok('ann', 'POST', '/publishers', { id, name: 'Both' });
    await ok('ann', 'POST', `/publishers/${id}/members`, { email: `${id}@example.org`, role });
    await ok('ann', 'POST', `/publishers/${id}/members`, { email: `${id}@work.example.org`, role: invited });
    expect((await me(`${id}@work.example.org`)).publishers).toEqual([{ id, role: 'owner' }]);
  });

  it('cannot be changed if they are not members', async () => {
    const { as } = registry();
    expect((await as('ann', 'DELETE', '/publishers/acme/members/x')).status).toBe(404);
    expect((await as('ann', 'PUT', '/publishers/acme/members/x', { role: 'owner' })).status).toBe(404);
  });

  it('lose their permissions when they are removed', async () => {
    const { as, ok } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'leaver', name: 'Leaver' });
    await ok('ann', 'POST', '/publishers/leaver/members', { email: 'eve@example.org', role: 'member' });
    expect((await as('eve', 'GET', '/publishers/leaver/members')).status).toBe(200);
    await ok('ann', 'DELETE', `/publishers/leaver/members/${await idOf('eve')}`);
    expect((await as('eve', 'GET', '/publishers/leaver/members')).status).toBe(403);
  });

  it('cannot upload what they registered once they are removed', async () => {
    const { as, ok } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'uploads', name: 'Uploads' });
    await ok('ann', 'POST', '/publishers/uploads/members', { email: 'eve@example.org', role: 'owner' });
    const { token } = await ok('eve', 'POST', '/publishers/uploads/tokens', { name: 'ci' });
    const path = '/publishers/uploads/nodes/parting-gift/versions';
    const { signedUrl } = await ok('eve', 'POST', path, publishBody(token, '1.0.0'));
    await ok('ann', 'DELETE', `/publishers/uploads/members/${await idOf('eve')}`);
    const refused = await upload(signedUrl, Buffer.from('archive'));
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
    const again = await as('ann', 'GET', '/nodes/parting-gift/versions/1.0.0');
    expect(again.body.status).toBe('NodeVersionStatusPending');
    // Another member's registration of the same version does not revive the URL, nor does a new membership.
    await ok('ann', 'POST', '/publishers/uploads/members', { email: 'eve@example.org', role: 'owner' });
    const { token: other } = await ok('ann', 'POST', '/publishers/uploads/tokens', { name: 'other' });
    const { signedUrl: current } = await ok('ann', 'POST', path, publishBody(other, '1.0.0'));
    const late = await upload(signedUrl, Buffer.from('archive'));
    expect([late.status, late.body.error]).toEqual([403, 'invalid_signature']);
    expect((await upload(current, Buffer.from('archive'))).status).toBe(200);
  });

  it('leaves the upload URL of a member as it is, until another member registers the same version', async () => {
    const { ok } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'turns', name: 'Turns' });
    await ok('ann', 'POST', '/publishers/turns/members', { email: 'bob@example.org', role: 'member' });
    const { token } = await ok('ann', 'POST', '/publishers/turns/tokens', { name: 'ci' });
    const path = '/publishers/turns/nodes/taken-over/versions';
    const first = await ok('bob', 'POST', path, publishBody(token, '1.0.0'));
    const second = await ok('ann', 'POST', path, publishBody(token, '1.0.0'));
    expect((await upload(first.signedUrl, Buffer.from('archive'))).body.error).toBe('invalid_signature');
    expect((await upload(second.signedUrl, Buffer.from('archive'))).status).toBe(200);
  });
});
