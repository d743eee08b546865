import { describe, expect, it } from 'vitest';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile();
const of = '/publishers/acme/nodes';

describe('a node', () => {
  it('is created with the fields that users may set, ignoring others', async () => {
    const { as } = registry();
    const { status, body } = await as('ann', 'POST', of, {
      id: 'Fine.Node',
      name: 'Fine',
      tags: ['a', 'b'],
      translations: { de: { name: 'Fein' } },
      downloads: 99,
      tags_admin: ['x'],
      status: 'NodeStatusBanned',
      search_ranking: 5,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: 'Fine.Node',
      name: 'Fine',
      tags: ['a', 'b'],
      downloads: 0,
      search_ranking: 0,
    });
    expect(body).toMatchObject({ status: 'NodeStatusActive', publisher: { id: 'acme' } });
    for (const absent of ['translations', 'tags_admin', 'rating', 'repo_stars', 'latest_version'])
      expect(body).not.toHaveProperty(absent);
  });

  it('reserves its id in every letter case, and redirects to the registered one', async () => {
    const { as, ok, url } = registry();
    await ok('eve', 'POST', '/publishers', { id: 'rival', name: 'Rival' });
    for (const [who, publisher] of [
      ['ann', 'acme'],
      ['eve', 'rival'],
    ] as const) {
      const taken = await as(who, 'POST', `/publishers/${publisher}/nodes`, { id: 'fine.node', name: 'x' });
      expect([taken.status, taken.body.error]).toEqual([400, 'duplicate_node']);
      expect(taken.body.message).toContain('Fine.Node');
    }
    const moved = await fetch(`${url}/nodes/FINE.node/versions?statuses=NodeVersionStatusActive`, {
      redirect: 'manual',
    });
    expect([moved.status, moved.headers.get('location')]).toEqual([
      302,
      '/nodes/Fine.Node/versions?statuses=NodeVersionStatusActive',
    ]);
    const plain = await fetch(`${url}/nodes/fine.node?include_translations=true`, { redirect: 'manual' });
    expect(plain.headers.get('location')).toBe('/nodes/Fine.Node?include_translations=true');
  });

  it('needs an id that differs in more than punctuation from every other, and is not reserved', async () => {
    const { as, ok, publish } = registry();
    await ok('ann', 'POST', of, { id: 'look-alike', name: 'x' });
    for (const id of ['look_alike', 'look.alike', 'Look--Alike', 'lookalike']) {
      const { status, body } = await as('ann', 'POST', of, { id, name: 'x' });
      expect([id, status, body.error]).toEqual([id, 400, 'duplicate_node']);
      expect(body.message).toContain('look-alike');
      await expect(publish(id, '1.0.0')).rejects.toThrow('duplicate_node');
    }
    await ok('ann', 'POST', of, { id: 'modern-mill0', name: 'x' });
    for (const id of ['modem-mill0', 'modern-mi11O', 'Modern.rnillo', 'mode_rn-MlLLo'])
      expect([id, (await as('ann', 'POST', of, { id, name: 'x' })).body.error]).toEqual([
        id,
        'duplicate_node',
      ]);
    for (const id of ['regen', 'Security', 'NUL', 'regen-security', 'light-official', 'adm1n.Team']) {
      const { status, body } = await as('ann', 'POST', of, { id, name: 'x' });
      expect([id, status, body.error]).toEqual([id, 400, 'invalid_request']);
      await expect(publish(id, '1.0.0')).rejects.toThrow('reserved');
    }
  });

  it('may contain words that are reserved only by themselves', async () => {
    const { ok } = registry();
    for (const id of ['unofficial-light', 'service-mesh', 'api-client', 'team', 'regen-light']) {
      expect(await ok('ann', 'POST', of, { id, name: 'x' })).toMatchObject({ id });
      await ok('ann', 'DELETE', `${of}/${id}`);
    }
  });

  it('that looks like another one, and is older than this rule, can be published and changed', async () => {
    const { ok, publish, change } = registry();
    await ok('ann', 'POST', of, { id: 'bright', name: 'x' });
    // As the upgrade leaves the second of two that look alike.
    await change(async (tx) => {
      const { number: _, ...row } = await tx
        .selectFrom('nodes')
        .selectAll()
        .where('id', '=', 'bright')
        .executeTakeFirstOrThrow();
      const other = { id: 'br1ght', folded_id: 'br1ght', plain_id: null, number: 1e6, search_key: null };
      await tx
        .insertInto('nodes')
        .values({ ...row, ...other })
        .execute();
    });
    expect((await publish('br1ght', '1.0.0')).node_version).toMatchObject({ version: '1.0.0' });
    expect(await ok('ann', 'PUT', `${of}/br1ght`, { description: 'Mine' })).toMatchObject({ id: 'br1ght' });
    for (const id of ['bright', 'br1ght']) await ok('ann', 'DELETE', `${of}/${id}`);
  });

  it('that was deleted is not revealed by another letter case', async () => {
    const { ok, url, tokens } = registry();
    await ok('ann', 'POST', of, { id: 'Hidden.Node', name: 'x' });
    await ok('ann', 'DELETE', `${of}/Hidden.Node`);
    const statuses = async (token?: string) => {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      const paths = ['/nodes/hidden.node', '/nodes/HIDDEN.node/versions', '/nodes/hidden.node/install'];
      const asked = paths.map((path) => fetch(url + path, { headers, redirect: 'manual' }));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    expect(await statuses()).toEqual([404, 404, 404]);
    expect(await statuses(tokens.eve)).toEqual([404, 404, 404]);
    expect(await statuses(tokens.bob)).toEqual([302, 302, 302]);
  });

  it.each(['-a', 'a-', '.a', 'a b', 'ü', 'a'.repeat(101), ''])('is refused with the id %j', async (id) => {
    const { status, body } = await registry().as('ann', 'POST', of, { id, name: 'x' });
    expect([status, body.details[0].path]).toEqual([400, 'id']);
  });

  it('is created once by two concurrent requests in different letter case', async () => {
    const { as } = registry();
    const make = (id: string) => as('ann', 'POST', of, { id, name: 'x' });
    const answers = await Promise.all([make('Race'), make('race'), make('RACE')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
  });

  it('has its translations only on request', async () => {
    const { ok } = registry();
    expect(await ok('guest', 'GET', '/nodes/Fine.Node')).not.toHaveProperty('translations');
    const asked = await ok('guest', 'GET', '/nodes/Fine.Node?include_translations=true');
    expect(asked.translations).toEqual({ de: { name: 'Fein' } });
  });

  it('is updated by merging the given fields', async () => {
    const { as } = registry();
    const { body } = await as('ann', 'PUT', `${of}/Fine.Node`, {
      description: 'Good',
      tags: ['c'],
      downloads: 7,
    });
    expect(body).toMatchObject({ name: 'Fine', description: 'Good', tags: ['c'], downloads: 0 });
    const long = await as('ann', 'PUT', `${of}/Fine.Node`, { description: 'a'.repeat(1001) });
    expect([long.status, long.body.details[0].path]).toEqual([400, 'description']);
    const big = await as('ann', 'PUT', `${of}/Fine.Node`, { author: 'a'.repeat(200_000) });
    expect([big.status, big.body.error]).toEqual([400, 'invalid_request']);
    expect((await as('ann', 'PUT', `${of}/Fine.Node`, { id: 'Other' })).status).toBe(400);
    const spelled = await as('ann', 'PUT', `${of}/fine.node`, { name: 'x' });
    expect([spelled.status, spelled.body.message]).toEqual([404, expect.stringContaining('Fine.Node')]);
  });

  it('may have the id v2', async () => {
    const { as, ok } = registry();
    await ok('ann', 'POST', of, { id: 'v2', name: 'Second' });
    expect((await as('ann', 'PUT', `${of}/v2`, { name: 'Two' })).body.name).toBe('Two');
  });

  it('keeps its id when it is deleted, and is hidden from non-members', async () => {
    const { as, ok } = registry();
    await ok('ann', 'POST', of, { id: 'Gone', name: 'Gone' });
    expect((await as('ann', 'DELETE', `${of}/Gone`)).status).toBe(204);
    expect((await as('ann', 'DELETE', `${of}/Gone`)).status).toBe(204);
    expect((await as('eve', 'GET', '/nodes/Gone')).status).toBe(404);
    expect((await ok('bob', 'GET', '/nodes/Gone')).status).toBe('NodeStatusDeleted');
    for (const [method, path, json] of [
      ['POST', of, { id: 'gone', name: 'x' }],
      ['PUT', `${of}/Gone`, {}],
    ] as const) {
      expect((await as('ann', method, path, json)).body.error).toBe('node_deleted');
    }
  });

  it('that is banned shows the reason only to its members', async () => {
    const { as, ok, change } = registry();
    await ok('ann', 'POST', of, { id: 'nasty', name: 'Nasty' });
    const verdict = {
      status: 'NodeStatusBanned',
      status_detail: 'malware',
      details: '{"tags_admin":["bad"]}',
    };
    await change((tx) => tx.updateTable('nodes').set(verdict).where('id', '=', 'nasty').execute());
    expect((await as('guest', 'GET', '/nodes/nasty')).body.error).toBe('banned');
    const member = await ok('bob', 'GET', '/nodes/nasty');
    expect([member.status_detail, member.tags_admin]).toEqual(['malware', undefined]);
    expect((await ok('admin', 'GET', '/nodes/nasty')).tags_admin).toEqual(['bad']);
    expect((await as('ann', 'PUT', `${of}/nasty`, { name: 'x' })).body.error).toBe('banned');
  });
});

describe('lists of nodes', () => {
  const ids = (body: { nodes: { id: string }[] }) => body.nodes.map(({ id }) => id);

  it('have pages in a fixed order, and show non-members only Active nodes', async () => {
    const { ok } = registry();
    const all = await ok('bob', 'GET', `${of}/v2?limit=100`);
    expect([all.page, all.limit, all.total, all.totalPages]).toEqual([1, 100, ids(all).length, 1]);
    expect(ids(all)).toContain('Gone');
    expect(ids(await ok('eve', 'GET', `${of}/v2?limit=100`))).not.toContain('Gone');
    const [first, second] = [
      await ok('bob', 'GET', `${of}/v2?limit=2`),
      await ok('bob', 'GET', `${of}/v2?limit=2&page=2`),
    ];
    expect([...ids(first), ...ids(second)]).toEqual(ids(all).slice(0, 4));
    expect(first.totalPages).toBe(Math.ceil(all.total / 2));
    expect(ids(await ok('bob', 'GET', `${of}/v2?page=99`))).toEqual([]);
  });

  it('are searched by words in id, name, description and tags, without wildcards', async () => {
    const { ok } = registry();
    const fields = { id: 'Finder', name: 'Über 100%_x', description: 'Sharp pictures', tags: ['Lens'] };
    await ok('ann', 'POST', of, fields);
    const found = async (search: string) =>
      ids(await ok('guest', 'GET', `/nodes?search=${encodeURIComponent(search)}`));
    for (const search of ['finder', 'ÜBER', '100%_', 'LENS sharp', 'pict']) {
      expect([search, await found(search)]).toEqual([search, ['Finder']]);
    }
    for (const search of ['finder nothing', '1%x', 'f_nder', '\\']) expect(await found(search)).toEqual([]);
    expect(await found('gone')).toEqual([]);
    expect((await found('')).length).toBeGreaterThan(2);
  });

  it('are searched by the starts of words when a word has one or two characters', async () => {
    const { ok } = registry();
    await ok('ann', 'POST', of, {
      id: 'short-words',
      name: 'Mesh in 3D',
      description: 'Qz\u{1f600} first_2d',
    });
    const found = async (search: string) =>
      ids(await ok('guest', 'GET', `/nodes?search=${encodeURIComponent(search)}`)).includes('short-words');
    for (const search of ['3', '3d', 'q', 'qz', '2d', 'short_words', 'ort-wo', '-', 'mesh 3d q'])
      expect([search, await found(search)]).toEqual([search, true]);
    for (const search of ['d', 'zq', 'rt', '"', '*', 'mesh OR x'])
      expect([search, await found(search)]).toEqual([search, false]);
  });

  it('find what a node is now, and not what it was', async () => {
    const { ok } = registry();
    const found = async (search: string) => {
      const { nodes, total } = await ok('guest', 'GET', `/nodes?search=${search}`);
      expect(total).toBe(nodes.length);
      return ids({ nodes });
    };
    const count = async () => (await ok('guest', 'GET', '/nodes')).total;
    const before = await count();
    await ok('ann', 'POST', of, { id: 'renamed', name: 'Beforehand' });
    expect([await found('beforehand'), await count()]).toEqual([['renamed'], before + 1]);
    await ok('ann', 'PUT', `${of}/renamed`, { name: 'Afterwards' });
    expect([await found('beforehand'), await found('afterwards')]).toEqual([[], ['renamed']]);
    for (const [path, body] of [
      [
        '/admin/nodes/renamed',
        (isOn: boolean) => ({ status: isOn ? 'NodeStatusActive' : 'NodeStatusBanned' }),
      ],
      [
        '/admin/publishers/acme',
        (isOn: boolean) => ({ status: isOn ? 'PublisherStatusActive' : 'PublisherStatusBanned' }),
      ],
    ] as const) {
      await ok('admin', 'PUT', path, body(false));
      expect(await found('afterwards')).toEqual([]);
      await ok('admin', 'PUT', path, body(true));
      expect(await found('afterwards')).toEqual(['renamed']);
    }
    const most = await count();
    await ok('ann', 'DELETE', `${of}/renamed`);
    expect([await found('afterwards'), await count()]).toEqual([[], most - 1]);
  });

  it('are ordered by id, and search results by their ranking first', async () => {
    const { ok } = registry();
    await ok('admin', 'PUT', '/admin/nodes/v2', { search_ranking: 9 });
    expect(ids(await ok('guest', 'GET', '/nodes'))[0]).toBe('v2');
    const listed = ids(await ok('bob', 'GET', `${of}/v2?limit=100`));
    expect(listed).toEqual([...listed].sort());
  });
});

describe('an installation', () => {
  it('returns the latest or the requested version, and counts a download', async () => {
    const { as, ok, active, service } = registry();
    await ok('ann', 'POST', of, { id: 'popular', name: 'Popular' });
    expect((await as('guest', 'GET', '/nodes/popular/install')).status).toBe(404);
    await active('popular', '1.0.0');
    await active('popular', '1.1.0');
    await active('popular', '1.2.0', 'NodeVersionStatusFlagged');
    expect((await ok('guest', 'GET', '/nodes/popular/install')).version).toBe('1.1.0');
    expect((await ok('pat', 'GET', '/nodes/popular/install?version=1.0.0')).version).toBe('1.0.0');
    expect((await as('ann', 'GET', '/nodes/popular/install?version=1.2.0')).status).toBe(404);
    await ok('guest', 'GET', '/nodes/popular/install');
    await service.context.installs.write();
    expect((await ok('guest', 'GET', '/nodes/popular')).downloads).toBe(2);
  });
});
