import { describe, expect, it } from 'vitest';
import { publishBody, type Registry, registryForFile } from '../../support/registry.js';
import { uploadArchive } from '../../support/service.js';

const registry = registryForFile();

async function readUserId(who: Parameters<Registry['ok']>[0]): Promise<string> {
  return (await registry().ok(who, 'GET', '/users/me')).id;
}

describe('members of a publisher', () => {
  it('are listed for members, in the order of their ids', async () => {
    const { ok } = registry();
    const members = await ok('bob', 'GET', '/publishers/acme/members');
    expect(members.map(({ role }: { role: string }) => role).sort()).toEqual(['member', 'owner']);
    expect(members.map(({ id }: { id: string }) => id)).toEqual(
      [await readUserId('ann'), await readUserId('bob')].sort(),
    );
  });

  it('change their role by PUT, and become owners once they accept', async () => {
    const { as, ok } = registry();
    const bob = await readUserId('bob');
    const add = (role: string) =>
      as('ann', 'POST', '/publishers/acme/members', { email: 'bob@example.org', role });
    expect((await add('member')).status).toBe(200);
    expect((await add('owner')).body.message).toContain('is already a member with the role member');
    expect(await ok('ann', 'GET', '/publishers/acme/members')).toHaveLength(2);
    const offered = await ok('ann', 'PUT', `/publishers/acme/members/${bob}`, { role: 'owner' });
    expect(offered).toMatchObject({ role: 'owner', pending: true, user: { id: bob } });
    expect((await as('bob', 'DELETE', `/publishers/acme/members/${bob}`)).status).toBe(403);
    const promoted = await ok('bob', 'POST', '/users/invitations/acme/accept');
    expect(promoted).toMatchObject({ id: bob, role: 'owner' });
    await ok('bob', 'PUT', `/publishers/acme/members/${bob}`, { role: 'member' });
    expect((await as('bob', 'PUT', `/publishers/acme/members/${bob}`, { role: 'owner' })).status).toBe(403);
  });

  it('always include an owner, even when two leave at the same time', async () => {
    const { as, ok, join } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'pair', name: 'Pair' });
    const [ann, eve] = [await readUserId('ann'), await readUserId('eve')];
    const alone = await as('ann', 'DELETE', `/publishers/pair/members/${ann}`);
    expect([alone.status, alone.body.error]).toEqual([400, 'invalid_request']);
    expect((await as('ann', 'PUT', `/publishers/pair/members/${ann}`, { role: 'member' })).status).toBe(400);
    await join('eve', 'pair', 'owner');
    const leaving = [
      as('ann', 'DELETE', `/publishers/pair/members/${ann}`),
      as('eve', 'DELETE', `/publishers/pair/members/${eve}`),
    ];
    expect((await Promise.all(leaving)).map(({ status }) => status).sort()).toEqual([204, 400]);
  });

  it('always include an owner, even when two remove each other at the same time', async () => {
    const { as, ok, join } = registry();
    const [ann, eve] = [await readUserId('ann'), await readUserId('eve')];
    for (const action of ['DELETE', 'PUT']) {
      const id = `rivals-${action.toLowerCase()}`;
      await ok('ann', 'POST', '/publishers', { id, name: 'Rivals' });
      await join('eve', id, 'owner');
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

  it('cannot be changed if they are not members', async () => {
    const { as } = registry();
    expect((await as('ann', 'DELETE', '/publishers/acme/members/x')).status).toBe(404);
    expect((await as('ann', 'PUT', '/publishers/acme/members/x', { role: 'owner' })).status).toBe(404);
  });

  it('lose their permissions when they are removed', async () => {
    const { as, ok, join } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'leaver', name: 'Leaver' });
    await join('eve', 'leaver', 'member');
    expect((await as('eve', 'GET', '/publishers/leaver/members')).status).toBe(200);
    await ok('ann', 'DELETE', `/publishers/leaver/members/${await readUserId('eve')}`);
    expect((await as('eve', 'GET', '/publishers/leaver/members')).status).toBe(403);
  });

  it('cannot upload what they registered once they are removed', async () => {
    const { as, ok, join } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'uploads', name: 'Uploads' });
    await join('eve', 'uploads', 'owner');
    const { token } = await ok('eve', 'POST', '/publishers/uploads/tokens', { name: 'ci' });
    const path = '/publishers/uploads/nodes/parting-gift/versions';
    const { signedUrl } = await ok('eve', 'POST', path, publishBody(token, '1.0.0'));
    await ok('ann', 'DELETE', `/publishers/uploads/members/${await readUserId('eve')}`);
    const refused = await uploadArchive(signedUrl, Buffer.from('archive'));
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
    const again = await as('ann', 'GET', '/nodes/parting-gift/versions/1.0.0');
    expect(again.body.status).toBe('NodeVersionStatusPending');
    // Another member's registration of the same version does not revive the URL, nor does a new membership.
    await join('eve', 'uploads', 'owner');
    const { token: other } = await ok('ann', 'POST', '/publishers/uploads/tokens', { name: 'other' });
    const { signedUrl: current } = await ok('ann', 'POST', path, publishBody(other, '1.0.0'));
    const late = await uploadArchive(signedUrl, Buffer.from('archive'));
    expect([late.status, late.body.error]).toEqual([403, 'invalid_signature']);
    expect((await uploadArchive(current, Buffer.from('archive'))).status).toBe(200);
  });

  it('leaves the upload URL of a member as it is, until another member registers the same version', async () => {
    const { ok, join } = registry();
    await ok('ann', 'POST', '/publishers', { id: 'turns', name: 'Turns' });
    await join('bob', 'turns', 'member');
    const { token } = await ok('ann', 'POST', '/publishers/turns/tokens', { name: 'ci' });
    const path = '/publishers/turns/nodes/taken-over/versions';
    const first = await ok('bob', 'POST', path, publishBody(token, '1.0.0'));
    const second = await ok('ann', 'POST', path, publishBody(token, '1.0.0'));
    expect((await uploadArchive(first.signedUrl, Buffer.from('archive'))).body.error).toBe(
      'invalid_signature',
    );
    expect((await uploadArchive(second.signedUrl, Buffer.from('archive'))).status).toBe(200);
  });
});
