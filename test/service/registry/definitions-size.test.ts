import { describe, expect, it } from 'vitest';
import { createZip } from '../../support/create-zip.js';
import { type Registry, registryForFile } from '../../support/registry.js';
import { type Answered, uploadArchive } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const MB = 1024 ** 2;
const registry = registryForFile({ quotas: { bytesPerDay: MB } });

/** Uploads a pack and waits for the verdict. */
async function publishPack({ publish, ok }: Registry, nodeId: string, program: string): Promise<Answered> {
  const { signedUrl } = await publish(nodeId, '1.0.0');
  expect((await uploadArchive(signedUrl, await createZip({ '__init__.py': program }))).status).toBe(200);
  return waitFor(async () => {
    const version = await ok('ann', 'GET', `/nodes/${nodeId}/versions/1.0.0`);
    expect(version.status).not.toBe('NodeVersionStatusPending');
    return version;
  });
}

/** Classes that all have the same inputs. */
const defineClasses = (count: number, inputs: string) => `
class Base:
    CATEGORY = "test"
    FUNCTION = "run"
    RETURN_TYPES = ("IMAGE",)
    @classmethod
    def INPUT_TYPES(cls):
        return ${inputs}
NODE_CLASS_MAPPINGS = {${Array.from({ length: count }, (_, at) => `"N${at}": Base`).join(', ')}}
`;

const SHARED = [
  'L0 = ["abcdefghijklmnop"] * 10',
  ...[1, 2, 3, 4].map((at) => `L${at} = [L${at - 1}] * 10`),
].join('\n');

describe('the definitions of a version', () => {
  it.each([
    ['lists that share their parts', `${SHARED}\n${defineClasses(20, '{"required": {"a": (L4,)}}')}`],
    ['thousands of classes', defineClasses(2_500, '{"required": {"a": (["some choice"] * 150,)}}')],
  ])('are not stored if they take more than 4 MB together: %s', async (title, program) => {
    const nodeId = `large-${title.length}`;
    const version = await publishPack(registry(), nodeId, program);
    expect(version).toMatchObject({ status: 'NodeVersionStatusActive', host_node_extract_status: 'failed' });
    expect(version.status_reason).toBe(
      'Node definitions could not be extracted: they take more than 4 MB together.',
    );
    const listed = await registry().ok(
      'guest',
      'GET',
      `/nodes/${nodeId}/versions/1.0.0/host-nodes?limit=100`,
    );
    expect(listed.host_nodes).toEqual([]);
  });

  it('count as bytes that their publisher uploads', async () => {
    const { as, publish } = registry();
    const program = `${SHARED}\n${defineClasses(2, '{"required": {"a": (L4,)}}')}`;
    const version = await publishPack(registry(), 'counted', program);
    expect(version.host_node_extract_status).toBe('success');
    const { signedUrl } = await publish('counted-no-more', '1.0.0');
    const refused = await uploadArchive(signedUrl, await createZip({ '__init__.py': '' }));
    expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
    expect((await as('guest', 'GET', '/nodes/counted/versions/1.0.0/host-nodes/N1')).status).toBe(200);
  });

  it('are refused if an external extractor sends more', async () => {
    const { as, publish } = registry();
    await publish('external', '1.0.0');
    const path = '/nodes/external/versions/1.0.0/host-nodes';
    const input_types = JSON.stringify({ required: { a: [['x'.repeat(1_000_000)]] } });
    const send = (count: number) => {
      const nodes = Object.fromEntries(Array.from({ length: count }, (_, at) => [`N${at}`, { input_types }]));
      return as('admin', 'POST', path, { success: true, nodes });
    };
    const refused = await send(5);
    expect([refused.status, refused.body.error]).toEqual([413, 'too_large']);
    expect(refused.body.message).toContain('4 MB');
    expect((await send(3)).status).toBe(204);
    const whole = await registry().ok('ann', 'GET', `${path}?limit=100`);
    expect(whole.host_nodes.map((node: Answered) => node.input_types)).toEqual(Array(3).fill(input_types));
  });
});

describe('a page of the definitions of all nodes', () => {
  it('leaves out only those that are too long for it, and has them in smaller pages', async () => {
    const { active, change, ok } = registry();
    const input_types = JSON.stringify({ required: { a: [['x'.repeat(300_000)]] } });
    for (let at = 0; at < 40; at += 1) {
      const { id } = await active(`page-${at}`, '1.0.0');
      const row = (name: string, definition: object) => ({
        ...{
          version_id: id,
          node_id: `page-${at}`,
          name,
          policy: 'HostNodePolicyActive',
          listed: 1 as const,
        },
        definition: JSON.stringify(definition),
      });
      const rows = [row('Large', { input_types, deprecated: true }), row('Small', { input_types: '{}' })];
      await change((tx) => tx.insertInto('host_nodes').values(rows).execute());
    }
    const { host_nodes } = await ok('guest', 'GET', '/host-nodes?pageSize=100');
    const found = host_nodes.filter(({ node_id }: Answered) => node_id.startsWith('page-'));
    expect(found).toHaveLength(80);
    expect(JSON.stringify(host_nodes).length).toBeLessThan(9 * MB);
    const [large, small] = found;
    expect(small).toMatchObject({ host_node_name: 'Small', input_types: '{}', deprecated: false });
    expect(large).toEqual({
      ...{ host_node_name: 'Large', node_id: large.node_id, node_version: '1.0.0' },
      policy: 'HostNodePolicyActive',
    });
    const few = await ok('guest', 'GET', '/host-nodes?pageSize=10&page=3');
    expect(
      few.host_nodes.filter(({ host_node_name }: Answered) => host_node_name === 'Large')[0],
    ).toMatchObject({
      ...{ input_types, deprecated: true },
    });
  });
});
