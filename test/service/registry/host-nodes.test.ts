import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { refreshListing } from '../../../src/service/registry/listed-host-nodes.js';
import { testDatabase } from '../../support/postgres.js';
import { listPlans } from '../../support/query-plans.js';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile();
const listNames = (body: { host_nodes: { host_node_name: string }[] }) =>
  body.host_nodes.map(({ host_node_name }) => host_node_name);

/** Writes what the archive job would write. */
async function addDefinition(
  version_id: string,
  node_id: string,
  name: string,
  policy = 'Active',
): Promise<void> {
  const definition = JSON.stringify({
    category: 'image',
    input_types: '{"required":{}}',
    output_is_list: [false],
  });
  const row = { version_id, node_id, name, definition, policy: `HostNodePolicy${policy}` };
  await registry().change(async (tx) => {
    await tx.insertInto('host_nodes').values(row).execute();
    await refreshListing(tx, node_id);
  });
}

beforeAll(async () => {
  const { active, publish } = registry();
  const old = await active('alpha', '1.0.0');
  const latest = await active('alpha', '1.1.0');
  const beta = await active('beta', '1.0.0');
  const draft = (await publish('alpha', '2.0.0')).node_version;
  await addDefinition(old.id, 'alpha', 'Blur');
  await addDefinition(latest.id, 'alpha', 'Sharpen');
  await addDefinition(latest.id, 'alpha', 'Blur');
  await addDefinition(latest.id, 'alpha', 'Hidden', 'Banned');
  await addDefinition(latest.id, 'alpha', 'Local', 'LocalOnly');
  await addDefinition(beta.id, 'beta', 'Blur');
  await addDefinition(draft.id, 'alpha', 'Draft');
});

describe('node definitions', () => {
  it('can be read one by one, by node, version and name', async () => {
    const { ok, as } = registry();
    expect(await ok('guest', 'GET', '/nodes/alpha/versions/1.1.0/host-nodes/Blur')).toEqual({
      host_node_name: 'Blur',
      category: 'image',
      deprecated: false,
      experimental: false,
      input_types: '{"required":{}}',
      output_is_list: [false],
      policy: 'HostNodePolicyActive',
    });
    for (const path of ['1.1.0/host-nodes/Nothing', '9.9.9/host-nodes/Blur', '2.0.0/host-nodes/Draft']) {
      expect([path, (await as('guest', 'GET', `/nodes/alpha/versions/${path}`)).status]).toEqual([path, 404]);
    }
    expect((await as('bob', 'GET', '/nodes/alpha/versions/2.0.0/host-nodes/Draft')).status).toBe(200);
  });

  it('of a version are listed by name in pages, banned ones only for admins', async () => {
    const { ok } = registry();
    const path = '/nodes/alpha/versions/1.1.0/host-nodes';
    expect(listNames(await ok('guest', 'GET', path))).toEqual(['Blur', 'Local', 'Sharpen']);
    expect(listNames(await ok('bob', 'GET', path))).toEqual(['Blur', 'Local', 'Sharpen']);
    expect(listNames(await ok('admin', 'GET', path))).toEqual(['Blur', 'Hidden', 'Local', 'Sharpen']);
    const second = await ok('guest', 'GET', `${path}?limit=2&page=2`);
    expect([listNames(second), second.totalNumberOfPages]).toEqual([['Sharpen'], 2]);
  });

  it('of all nodes come from the latest version of each node, unless a version is named', async () => {
    const { ok } = registry();
    const list = async (query: string) => ok('guest', 'GET', `/host-nodes${query}`);
    expect(await list('')).toMatchObject({ total: 4 });
    expect(listNames(await list(''))).toEqual(['Blur', 'Local', 'Sharpen', 'Blur']);
    expect(listNames(await list('?node_id=beta'))).toEqual(['Blur']);
    expect(listNames(await list('?node_version=1.0.0'))).toEqual(['Blur', 'Blur']);
    expect(listNames(await list('?node_id=alpha&node_version=1.0.0'))).toEqual(['Blur']);
    expect(listNames(await list('?host_node_name=Sharpen'))).toEqual(['Sharpen']);
    expect(listNames(await list('?host_node_name=sharpen'))).toEqual([]);
    expect(listNames(await list('?node_version=2.0.0'))).toEqual([]);
    const page = await list('?pageSize=3&page=2');
    expect([listNames(page), page.total]).toEqual([['Blur'], 4]);
  });

  it('of all nodes exclude banned and deleted ones', async () => {
    const { ok } = registry();
    await ok('admin', 'PUT', '/admin/nodes/beta', { status: 'NodeStatusBanned' });
    expect(listNames(await ok('guest', 'GET', '/host-nodes?node_id=beta'))).toEqual([]);
    await ok('admin', 'PUT', '/admin/nodes/beta', { status: 'NodeStatusActive' });
    expect(listNames(await ok('guest', 'GET', '/host-nodes?node_id=beta'))).toEqual(['Blur']);
  });

  it('of all nodes are limited to 10,000, with an error beyond', async () => {
    const { as } = registry();
    const answer = await as('guest', 'GET', '/host-nodes?page=101');
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'page']);
  });
});

describe('definitions by name', () => {
  const read = (names: string[], node_versions: object[] = [], caller: 'guest' | 'bob' | 'admin' = 'guest') =>
    registry().ok(caller, 'POST', '/bulk/host-nodes', { names, node_versions });
  const list = ({ host_nodes }: { host_nodes: Record<string, string>[] }) =>
    host_nodes.map((one) => `${one.node_id}@${one.node_version} ${one.host_node_name}`);

  it('are read in one request from the versions that are asked for', async () => {
    const pairs = [
      { node_id: 'alpha', version: '1.0.0' },
      { node_id: 'beta', version: '1.0.0' },
    ];
    const answer = await read(['Blur', 'Sharpen', 'Nothing', '__proto__'], pairs);
    // Only a name that none of the versions has is looked for elsewhere.
    expect(list(answer)).toEqual(['alpha@1.0.0 Blur', 'alpha@1.1.0 Sharpen', 'beta@1.0.0 Blur']);
    expect(answer.total).toBe(3);
    expect(answer.host_nodes[0]).toMatchObject({ input_types: '{"required":{}}', deprecated: false });
  });

  it('are read from the latest version of one node, or of every node that has the name', async () => {
    expect(list(await read(['Blur'], [{ node_id: 'alpha' }]))).toEqual(['alpha@1.1.0 Blur']);
    expect(list(await read(['Blur', 'Blur']))).toEqual(['alpha@1.1.0 Blur', 'beta@1.0.0 Blur']);
  });

  it('are those that the caller may see', async () => {
    const draft = [{ node_id: 'alpha', version: '2.0.0' }];
    expect(list(await read(['Draft', 'Hidden'], draft))).toEqual([]);
    expect(list(await read(['Draft', 'Hidden'], draft, 'bob'))).toEqual(['alpha@2.0.0 Draft']);
    expect(list(await read(['Hidden'], [], 'admin'))).toEqual(['alpha@1.1.0 Hidden']);
  });

  it('cannot be asked for without limit, or with unknown fields', async () => {
    const { as } = registry();
    const tooMany = { names: Array.from({ length: 1001 }, (_, at) => `n${at}`) };
    for (const body of [tooMany, { names: ['A'], page: 1 }, { names: [''] }, {}])
      expect((await as('guest', 'POST', '/bulk/host-nodes', body)).status).toBe(400);
    expect(list(await read([]))).toEqual([]);
  });
});

describe('the list of all definitions', () => {
  /** The list, and the list computed from all tables. */
  async function listedAndTrue() {
    const { ok, service } = registry();
    const { host_nodes, total } = await ok('admin', 'GET', '/host-nodes');
    const { rows } = await sql<{ name: string }>`
      select host_nodes.name from host_nodes join nodes on nodes.latest_version_id = host_nodes.version_id
      join publishers on publishers.id = nodes.publisher_id
      where nodes.status = 'NodeStatusActive' and publishers.status = 'PublisherStatusActive'
      order by nodes.id, host_nodes.name`.execute(service.context.database);
    expect(listNames({ host_nodes })).toEqual(rows.map(({ name }) => name));
    expect(total).toBe(rows.length);
    return total;
  }

  it('is updated by every change that hides or shows a node', async () => {
    const { ok, active, publish } = registry();
    const set = (what: string, body: object) => ok('admin', 'PUT', `/admin/${what}`, body);
    const steps = [
      () => set('publishers/acme', { status: 'PublisherStatusBanned' }),
      () => set('publishers/acme', { status: 'PublisherStatusActive' }),
      () => set('nodes/alpha/versions/1.1.0', { status: 'NodeVersionStatusFlagged' }),
      () => set('nodes/alpha/versions/1.1.0', { status: 'NodeVersionStatusActive' }),
      () => set('nodes/alpha/versions/1.1.0/host-nodes/Blur', { policy: 'HostNodePolicyBanned' }),
      async () => addDefinition((await active('beta', '2.0.0')).id, 'beta', 'Newer'),
      async () => {
        const { node_version } = await publish('beta', '3.0.0');
        const definitions = { success: true, nodes: { Drafted: {} } };
        await ok('admin', 'POST', '/nodes/beta/versions/3.0.0/host-nodes', definitions);
        expect(node_version.status).toBe('NodeVersionStatusPending');
        await publish('beta', '3.0.0');
      },
      () => ok('ann', 'DELETE', '/publishers/acme/nodes/beta/versions/2.0.0'),
      () => ok('ann', 'DELETE', '/publishers/acme/nodes/beta'),
    ];
    const totals = [await listedAndTrue()];
    for (const step of steps) {
      await step();
      totals.push(await listedAndTrue());
    }
    expect(totals).toEqual([5, 0, 5, 2, 5, 5, 5, 5, 5, 4]);
  });

  it
    .skipIf(testDatabase)
    .each(['', '?page=100', '?node_id=alpha', '?host_node_name=Blur', '?node_version=1.0.0'])(
    'is read from an index, without sorting: %j',
    async (query) => {
      const { ok, service } = registry();
      const plans = await listPlans(
        service.context.database,
        () => ok('guest', 'GET', `/host-nodes${query}`),
        /host_nodes/,
      );
      expect(plans.filter((step) => /^SCAN (?!some$)\w+$|TEMP B-TREE/.test(step))).toEqual([]);
    },
  );
});
