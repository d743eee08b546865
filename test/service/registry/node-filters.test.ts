import { beforeAll, describe, expect, test } from 'vitest';
import { storeDefinitions } from '../../../src/service/registry/definitions.js';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile();

beforeAll(async () => {
  const { active, publish, ok, change } = registry();
  const { id } = await active('linux-only', '1.0.0');
  await ok('ann', 'PUT', '/publishers/acme/nodes/linux-only', {
    supported_os: ['Linux'],
    supported_accelerators: ['CUDA'],
    tags: ['upscale'],
  });
  await change((tx) =>
    storeDefinitions(tx, {
      versionId: id,
      nodeId: 'linux-only',
      nodes: [
        { name: 'FastBlur_v2', definition: {} },
        { name: 'Größe ÄNDERN', definition: {} },
      ],
    }),
  );
  await publish('anywhere', '1.0.0');
  await publish('zz-banned', '1.0.0');
  await ok('admin', 'PUT', '/admin/nodes/zz-banned', { status: 'NodeStatusBanned' });
});

const listNodes = async (query: string, who: 'guest' | 'admin' = 'guest') => {
  const { nodes, total } = await registry().ok(who, 'GET', `/nodes?${query}`);
  expect(total).toBe(nodes.length);
  return nodes.map(({ id }: { id: string }) => id);
};

describe('the list of nodes', () => {
  test.each([
    ['supported_os=Windows', ['anywhere']],
    ['supported_os=Linux', ['linux-only', 'anywhere']],
    ['supported_accelerator=ROCm', ['anywhere']],
    ['supported_os=Linux&search=upscale', ['linux-only']],
    ['host_node_search=blur_v', ['linux-only']],
    ['host_node_search=blur%25', []],
    [`host_node_search=${encodeURIComponent('größe ÄNDERN')}`, ['linux-only']],
    ['timestamp=2999-01-01T00:00:00Z', []],
    ['timestamp=2000-01-01T00:00:00Z', ['linux-only', 'anywhere']],
    ['sort=name', ['anywhere', 'linux-only']],
    ['sort=name;desc', ['linux-only', 'anywhere']],
    ['search=nothing-like-it&sort=name', []],
  ])('%s finds %j', async (query, ids) => {
    expect(await listNodes(query)).toEqual(ids);
  });

  test('has banned nodes for admins who ask for them, and refuses to pretend for others', async () => {
    expect(await listNodes('include_banned=true', 'admin')).toContain('zz-banned');
    expect(await listNodes('', 'admin')).not.toContain('zz-banned');
    const { status, body } = await registry().as('eve', 'GET', '/nodes?include_banned=true');
    expect([status, body.error]).toEqual([403, 'admin_required']);
  });
});

describe('the node of a definition', () => {
  test('is the one that has it, and one that preempts its name comes first', async () => {
    const { active, ok, change } = registry();
    expect(await ok('guest', 'GET', '/host-nodes/FastBlur_v2/node')).toMatchObject({ id: 'linux-only' });
    const { id } = await active('later', '1.0.0');
    await change((tx) =>
      storeDefinitions(tx, {
        versionId: id,
        nodeId: 'later',
        nodes: [{ name: 'FastBlur_v2', definition: {} }],
      }),
    );
    expect(await ok('guest', 'GET', '/host-nodes/FastBlur_v2/node')).toMatchObject({ id: 'linux-only' });
    await ok('admin', 'PUT', '/admin/nodes/later', { preempted_host_node_names: ['FastBlur_v2'] });
    expect(await ok('guest', 'GET', '/host-nodes/FastBlur_v2/node')).toMatchObject({ id: 'later' });
    expect((await registry().as('guest', 'GET', '/host-nodes/Nothing/node')).status).toBe(404);
  });
});

describe('versions that wait for a verdict', () => {
  test('are listed for admins, oldest first, by their statuses', async () => {
    const { publish, ok, active } = registry();
    await publish('waiting', '1.0.0');
    await active('flagged', '1.0.0', 'NodeVersionStatusFlagged');
    const read = (query = '') => ok('admin', 'GET', `/versions${query}`);
    const all = await read('?pageSize=100');
    const names = all.versions.map(({ node_id }: { node_id: string }) => node_id);
    expect(names.indexOf('waiting')).toBeLessThan(names.indexOf('flagged'));
    expect(all.total).toBe(names.length);
    const flagged = await read('?statuses=NodeVersionStatusFlagged');
    expect(flagged.versions.map(({ node_id }: { node_id: string }) => node_id)).toEqual(['flagged']);
    const ofNode = await read('?nodeId=waiting');
    expect([ofNode.total, ofNode.versions[0].node_id]).toEqual([1, 'waiting']);
  });
});

describe('a publisher id', () => {
  test.each([
    ['acme', false],
    ['ac-me', false],
    ['admin', false],
    ['No Id', false],
    ['new-team', true],
  ])('%s: free is %s', async (id, isAvailable) => {
    const path = `/publishers/validate?username=${encodeURIComponent(id)}`;
    expect(await registry().ok('guest', 'GET', path)).toEqual({ isAvailable });
  });

  test('is free again once its publisher, which never had a node, is deleted', async () => {
    const { ok, as } = registry();
    await ok('eve', 'POST', '/publishers', { id: 'short-lived', name: 'Short' });
    await ok('eve', 'POST', '/publishers/short-lived/tokens', { name: 'ci' });
    expect((await as('eve', 'DELETE', '/publishers/short-lived')).status).toBe(204);
    expect((await as('guest', 'GET', '/publishers/short-lived')).status).toBe(404);
    expect((await as('ann', 'DELETE', '/publishers/acme')).body.error).toBe('invalid_transition');
    await ok('eve', 'POST', '/publishers', { id: 'short-lived', name: 'Short' });
  });
});
