import { beforeAll, describe, expect, it } from 'vitest';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile();
const names = (body: { host_nodes: { host_node_name: string }[] }) =>
  body.host_nodes.map(({ host_node_name }) => host_node_name);

/** Stands for what the archive job writes. */
async function define(version_id: string, node_id: string, name: string, policy = 'Active'): Promise<void> {
  const definition = JSON.stringify({
    category: 'image',
    input_types: '{"required":{}}',
    output_is_list: [false],
  });
  const row = { version_id, node_id, name, definition, policy: `HostNodePolicy${policy}` };
  await registry().change((tx) => tx.insertInto('host_nodes').values(row).execute());
}

beforeAll(async () => {
  const { active, publish } = registry();
  const old = await active('alpha', '1.0.0');
  const latest = await active('alpha', '1.1.0');
  const beta = await active('beta', '1.0.0');
  const draft = (await publish('alpha', '2.0.0')).node_version;
  await define(old.id, 'alpha', 'Blur');
  await define(latest.id, 'alpha', 'Sharpen');
  await define(latest.id, 'alpha', 'Blur');
  await define(latest.id, 'alpha', 'Hidden', 'Banned');
  await define(latest.id, 'alpha', 'Local', 'LocalOnly');
  await define(beta.id, 'beta', 'Blur');
  await define(draft.id, 'alpha', 'Draft');
});

describe('node definitions', () => {
  it('are read singly, by node, version and name', async () => {
    const { ok, as } = registry();
    expect(await ok('nobody', 'GET', '/nodes/alpha/versions/1.1.0/host-nodes/Blur')).toEqual({
      host_node_name: 'Blur',
      category: 'image',
      input_types: '{"required":{}}',
      output_is_list: [false],
      policy: 'HostNodePolicyActive',
    });
    for (const path of ['1.1.0/host-nodes/Nothing', '9.9.9/host-nodes/Blur', '2.0.0/host-nodes/Draft']) {
      expect([path, (await as('nobody', 'GET', `/nodes/alpha/versions/${path}`)).status]).toEqual([
        path,
        404,
      ]);
    }
    expect((await as('bob', 'GET', '/nodes/alpha/versions/2.0.0/host-nodes/Draft')).status).toBe(200);
  });

  it('of a version are listed by name in pages, the banned ones for admins alone', async () => {
    const { ok } = registry();
    const path = '/nodes/alpha/versions/1.1.0/host-nodes';
    expect(names(await ok('nobody', 'GET', path))).toEqual(['Blur', 'Local', 'Sharpen']);
    expect(names(await ok('bob', 'GET', path))).toEqual(['Blur', 'Local', 'Sharpen']);
    expect(names(await ok('admin', 'GET', path))).toEqual(['Blur', 'Hidden', 'Local', 'Sharpen']);
    const second = await ok('nobody', 'GET', `${path}?limit=2&page=2`);
    expect([names(second), second.totalNumberOfPages]).toEqual([['Sharpen'], 2]);
  });

  it("of all nodes are those of each node's latest version, unless a version is named", async () => {
    const { ok } = registry();
    const list = async (query: string) => ok('nobody', 'GET', `/host-nodes${query}`);
    expect(await list('')).toMatchObject({ total: 4 });
    expect(names(await list(''))).toEqual(['Blur', 'Local', 'Sharpen', 'Blur']);
    expect(names(await list('?node_id=beta'))).toEqual(['Blur']);
    expect(names(await list('?node_version=1.0.0'))).toEqual(['Blur', 'Blur']);
    expect(names(await list('?node_id=alpha&node_version=1.0.0'))).toEqual(['Blur']);
    expect(names(await list('?host_node_name=Sharpen'))).toEqual(['Sharpen']);
    expect(names(await list('?host_node_name=sharpen'))).toEqual([]);
    expect(names(await list('?node_version=2.0.0'))).toEqual([]);
    const page = await list('?pageSize=3&page=2');
    expect([names(page), page.total]).toEqual([['Blur'], 4]);
  });

  it('of all nodes leave out what is banned or deleted', async () => {
    const { ok, change } = registry();
    await change((tx) =>
      tx.updateTable('nodes').set({ status: 'NodeStatusBanned' }).where('id', '=', 'beta').execute(),
    );
    expect(names(await ok('nobody', 'GET', '/host-nodes?node_id=beta'))).toEqual([]);
  });
});
