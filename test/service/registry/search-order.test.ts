import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_LEADING } from '../../../src/service/registry/search-index.js';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile({ quotas: { nodes: 10_000 } });

/** In the order of their creation, which is that of a search without words. */
const ids = ['delight', 'Light-Tools', 'highlight', 'light_box', 'lighter', 'light', 'other'];

beforeAll(async () => {
  for (const id of ids)
    await registry().ok('ann', 'POST', '/publishers/acme/nodes', {
      id,
      name: id === 'other' ? 'A light' : id,
    });
});

async function search(query: string): Promise<{ found: string[]; total: number }> {
  const { nodes, total } = await registry().ok('guest', 'GET', `/nodes?${query}`);
  return { found: nodes.map(({ id }: { id: string }) => id), total };
}

const ordered = ['light', 'Light-Tools', 'light_box', 'lighter', 'delight', 'highlight', 'other'];

describe('a search for one word', () => {
  it('begins with the node that has this id, in any letter case, then with ids that begin with it', async () => {
    expect(await search('search=light')).toEqual({ found: ordered, total: 7 });
    expect(await search('search=LIGHT')).toEqual({ found: ordered, total: 7 });
    expect((await search('search=light_box')).found[0]).toBe('light_box');
  });

  it('has each node once on its pages, also with filters', async () => {
    for (const more of ['', '&supported_os=Linux']) {
      for (const limit of [1, 2, 3, 5]) {
        const pages = [];
        for (let page = 1; page <= Math.ceil(7 / limit); page++)
          pages.push(...(await search(`search=light&limit=${limit}&page=${page}${more}`)).found);
        expect([more, limit, pages]).toEqual([more, limit, ordered]);
      }
    }
  });

  it('keeps the order that was asked for, and that of several words', async () => {
    const names = (await search('search=light&sort=create_time')).found;
    expect(names).toEqual(ids);
    expect((await search('search=light%20a')).found).toEqual(['other']);
  });

  it('takes characters with a meaning in patterns as they are', async () => {
    for (const word of ['%', '_', 'light%', "'", '\\', 'l_ght', '\u007f', 'é'])
      expect([word, (await search(`search=${encodeURIComponent(word)}`)).total]).toEqual([
        word,
        word === '_' ? 7 : 0,
      ]);
  });

  it('has each node once where more ids begin with it than come first', async () => {
    const count = MAX_LEADING + 20;
    for (let at = 0; at < count; at++)
      await registry().ok('ann', 'POST', '/publishers/acme/nodes', { id: `many-${at}x`, name: `Node ${at}` });
    const found = [];
    for (let page = 1; page <= 3; page++)
      found.push(...(await search(`search=many&limit=50&page=${page}`)).found);
    expect([found.length, new Set(found).size]).toEqual([count, count]);
  });
});
