import { describe, expect, it } from 'vitest';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile();
const toVersionsPath = (node: string) => `/publishers/acme/nodes/${node}/versions`;
const listNumbers = (list: { version: string }[]) => list.map(({ version }) => version);

describe('versions', () => {
  it('are listed newest first, drafts only for members', async () => {
    const { ok, active, publish } = registry();
    for (const version of ['1.10.0', '1.9.0', '2.0.0-rc.1', '99999999999999999999.0.0'])
      await active('many', version);
    await active('many', '1.9.1', 'NodeVersionStatusBanned');
    await publish('many', '3.0.0');
    const path = '/nodes/many/versions';
    const shown = ['99999999999999999999.0.0', '2.0.0-rc.1', '1.10.0', '1.9.0'];
    expect(listNumbers(await ok('eve', 'GET', path))).toEqual(shown);
    const inside = ['99999999999999999999.0.0', '3.0.0', '2.0.0-rc.1', '1.10.0', '1.9.1', '1.9.0'];
    for (const who of ['bob', 'pat', 'admin'] as const)
      expect(listNumbers(await ok(who, 'GET', path))).toEqual(inside);
    const drafts = `${path}?statuses=NodeVersionStatusPending&statuses=NodeVersionStatusBanned`;
    expect(listNumbers(await ok('bob', 'GET', drafts))).toEqual(['3.0.0', '1.9.1']);
    expect(await ok('eve', 'GET', drafts)).toEqual([]);
  });

  it('that are not Active are hidden from non-members', async () => {
    const { as } = registry();
    expect((await as('eve', 'GET', '/nodes/many/versions/3.0.0')).status).toBe(404);
    expect((await as('pat', 'GET', '/nodes/many/versions/3.0.0')).body.status).toBe(
      'NodeVersionStatusPending',
    );
    expect((await as('eve', 'GET', '/nodes/many/versions/1.9.0')).body.status).toBe(
      'NodeVersionStatusActive',
    );
    expect((await as('eve', 'GET', '/nodes/many/versions/0.0.1')).status).toBe(404);
  });

  it('are updated by id or number, but only changelog and deprecation', async () => {
    const { as, active, ok } = registry();
    const { id } = await active('mended', '1.0.0');
    await active('mended', '0.9.0');
    const byId = await as('bob', 'PUT', `${toVersionsPath('mended')}/${id}`, { changelog: 'Better' });
    expect([byId.status, byId.body.changelog, byId.body.deprecated]).toEqual([200, 'Better', false]);
    expect((await ok('guest', 'GET', '/nodes/mended')).latest_version.version).toBe('1.0.0');
    const byNumber = await as('pat', 'PUT', `${toVersionsPath('mended')}/1.0.0`, { deprecated: true });
    expect(byNumber.body).toMatchObject({ changelog: 'Better', deprecated: true });
    expect((await ok('guest', 'GET', '/nodes/mended')).latest_version.version).toBe('0.9.0');
    const typo = await as('bob', 'PUT', `${toVersionsPath('mended')}/1.0.0`, {
      chnagelog: 'x',
      deprecated: 'yes',
    });
    expect(typo.body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'chnagelog',
      'deprecated',
    ]);
  });

  it('of another node or publisher are not found', async () => {
    const { as, ok, active } = registry();
    const { id } = await active('one', '1.0.0');
    await active('two', '2.0.0');
    await ok('ann', 'POST', '/publishers', { id: 'second', name: 'Second' });
    for (const path of [`${toVersionsPath('two')}/${id}`, `/publishers/second/nodes/one/versions/${id}`]) {
      expect([path, (await as('ann', 'PUT', path, {})).status]).toEqual([path, 404]);
      expect([path, (await as('ann', 'DELETE', path)).status]).toEqual([path, 404]);
      expect([path, (await as('ann', 'GET', `${path}/history`)).status]).toEqual([path, 404]);
    }
  });

  it('are deleted by owners, and their number is used up', async () => {
    const { as, ok, active, tokens } = registry();
    await active('shrinking', '1.0.0');
    await active('shrinking', '1.1.0');
    const path = `${toVersionsPath('shrinking')}/1.1.0`;
    expect((await as('bob', 'DELETE', path)).status).toBe(403);
    expect((await as('ann', 'DELETE', path)).status).toBe(204);
    expect((await as('ann', 'DELETE', path)).status).toBe(204);
    expect((await ok('guest', 'GET', '/nodes/shrinking')).latest_version.version).toBe('1.0.0');
    expect((await as('eve', 'GET', '/nodes/shrinking/versions/1.1.0')).status).toBe(404);
    const json = { node: {}, node_version: { version: '1.1.0' }, personal_access_token: tokens.pat };
    const again = await as('ann', 'POST', toVersionsPath('shrinking'), json);
    expect([again.body.error, again.body.message]).toEqual([
      'version_exists',
      expect.stringContaining('Deleted'),
    ]);
  });

  it('show the history of their status to members', async () => {
    const { as, ok } = registry();
    const history = await ok('bob', 'GET', `${toVersionsPath('shrinking')}/1.1.0/history`);
    expect(history.map(({ status }: { status: string }) => status.replace('NodeVersionStatus', ''))).toEqual([
      'Pending',
      'Active',
      'Deleted',
    ]);
    const ann = (await ok('ann', 'GET', '/users/me')).id;
    expect(history.map(({ by }: { by: string }) => by)).toEqual([ann, 'service', ann]);
    expect((await as('eve', 'GET', `${toVersionsPath('shrinking')}/1.1.0/history`)).status).toBe(403);
    expect((await as('admin', 'GET', `${toVersionsPath('shrinking')}/1.1.0/history`)).status).toBe(200);
  });

  it('show admin tags only to admins', async () => {
    const { ok, active, change } = registry();
    const { id } = await active('tagged', '1.0.0');
    const details = '{"tags_admin":["watch"]}';
    await change((tx) => tx.updateTable('versions').set({ details }).where('id', '=', id).execute());
    expect((await ok('admin', 'GET', '/nodes/tagged/versions/1.0.0')).tags_admin).toEqual(['watch']);
    expect(await ok('ann', 'GET', '/nodes/tagged/versions/1.0.0')).not.toHaveProperty('tags_admin');
  });
});

describe('versions read in bulk', () => {
  const read = async (who: 'eve' | 'bob', pairs: [string, string][]) => {
    const node_versions = pairs.map(([node_id, version]) => ({ node_id, version }));
    return (await registry().ok(who, 'POST', '/bulk/nodes/versions', { node_versions })).node_versions;
  };
  const states = (items: { status: string }[]) => items.map(({ status }) => status);

  it('are returned in the requested order, with duplicates, each with its own status', async () => {
    const { active, publish, change } = registry();
    await active('bulky', '1.0.0');
    await publish('bulky', '2.0.0');
    await active('barred', '1.0.0');
    const verdict = { status: 'NodeStatusBanned' };
    await change((tx) => tx.updateTable('nodes').set(verdict).where('id', '=', 'barred').execute());
    const pairs: [string, string][] = [
      ['bulky', '2.0.0'],
      ['bulky', '1.0.0'],
      ['nothing', 'v1'],
      ['bulky', '1.0.0'],
      ['barred', '1.0.0'],
    ];
    const outsider = await read('eve', pairs);
    expect(states(outsider)).toEqual(['not_found', 'success', 'not_found', 'success', 'error']);
    expect(outsider.map(({ identifier }: { identifier: object }) => identifier)).toEqual(
      pairs.map(([node_id, version]) => ({ node_id, version })),
    );
    expect(outsider[1].node_version).toMatchObject({ node_id: 'bulky', version: '1.0.0' });
    expect(outsider[0].error_message).toContain('2.0.0');
    expect(states(await read('bob', pairs))).toEqual([
      'success',
      'success',
      'not_found',
      'success',
      'success',
    ]);
    expect(await read('eve', [])).toEqual([]);
  });

  it('are limited to 1000, without unknown fields', async () => {
    const { as } = registry();
    const pair = { node_id: 'bulky', version: '1.0.0' };
    const full = await read(
      'eve',
      Array.from({ length: 1000 }, (_, at) => ['bulky', `1.0.${at}`]),
    );
    expect(full).toHaveLength(1000);
    const over = { node_versions: Array.from({ length: 1001 }, () => pair) };
    const tooMany = await as('eve', 'POST', '/bulk/nodes/versions', over);
    expect([tooMany.status, tooMany.body.details[0].path]).toEqual([400, 'node_versions']);
    const wrong = { node_versions: [{ ...pair, colour: 1 }, { node_id: 3 }] };
    const typo = await as('eve', 'POST', '/bulk/nodes/versions', wrong);
    expect(typo.body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'node_versions.0.colour',
      'node_versions.1.node_id',
      'node_versions.1.version',
    ]);
  });
});

describe('versions of a deleted node', () => {
  it('cannot be changed, deleted or installed', async () => {
    const { as, ok, active } = registry();
    await active('gone', '1.0.0');
    await ok('ann', 'DELETE', '/publishers/acme/nodes/gone');
    const version = '/publishers/acme/nodes/gone/versions/1.0.0';
    for (const refused of [
      await as('ann', 'PUT', version, { changelog: 'x' }),
      await as('ann', 'DELETE', version),
      await as('ann', 'GET', '/nodes/gone/install'),
    ]) {
      expect([refused.status, refused.body.error]).toEqual([400, 'node_deleted']);
    }
    expect((await as('eve', 'GET', '/nodes/gone/install')).status).toBe(404);
  });
});
