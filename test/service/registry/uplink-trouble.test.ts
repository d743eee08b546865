import { describe, expect, onTestFinished, test } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { regen } from '../../support/cli.js';
import { listenOn } from '../../support/listen.js';
import { packRegistryForTest } from '../../support/pack-registry.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';

type Uplink = NonNullable<ConfigurationInput['uplink']>;

/** A service in front of a registry, with the lines of its log. */
async function serviceInFront(uplink: Uplink, input: ConfigurationInput = {}) {
  const lines: { message: string; facts: unknown }[] = [];
  const log = (_: string, message: string, facts: unknown) => void lines.push({ message, facts });
  const service = await serviceForTest({ ...input, uplink }, { log });
  const read = async (path: string) => (await fetch(service.url + path)).text();
  const listIds = async (query = '') => {
    const { body } = await ask(`${service.url}/nodes?${query}`);
    return body.nodes.map(({ id }: { id: string }) => id);
  };
  return { service, lines, read, listIds };
}

const DOWN = 'The registry behind this one does not answer; try again soon.';
const KEPT = 'Of its nodes, only those that are kept here are listed.';

describe('while the registry behind does not answer', () => {
  /** Keeps two of three nodes, one in two versions of which the older was fetched last, and stops the other registry. */
  async function keepAndStop(rules: Partial<Uplink> = {}) {
    const pack = (name: string, version = '1.0.0') => ({ name, version });
    const far = await packRegistryForTest([pack('light-tools'), pack('never-kept'), pack('dark-tools')]);
    await far.publish(pack('light-tools', '1.10.0'));
    const near = await serviceInFront({ url: far.service.url, ...rules });
    for (const path of ['light-tools/1.10.0', 'light-tools/1.0.0', 'dark-tools/1.0.0'])
      await fetch(`${near.service.url}/uplink/${path}/node.zip`);
    await far.service.stop();
    return near;
  }

  test('lists and searches find the nodes that are kept, and say what is missing', async () => {
    const { service, listIds } = await keepAndStop();
    const { body } = await ask(`${service.url}/nodes`);
    expect(body).toMatchObject({ total: 2, totalPages: 1, incomplete_reason: `${DOWN} ${KEPT}` });
    expect(body.nodes).toMatchObject([
      { id: 'dark-tools', name: 'Pack', latest_version: { version: '1.0.0', from_uplink: true } },
      { id: 'light-tools', latest_version: { version: '1.10.0' } },
    ]);
    expect(body.nodes[1].latest_version.downloadUrl).toBe(
      `${service.url}/uplink/light-tools/1.10.0/node.zip`,
    );
    expect(await listIds('limit=1&page=2')).toEqual(['light-tools']);
    for (const [query, ids] of [
      ['search=LIGHT', ['light-tools']],
      ['search=a+pack', ['dark-tools', 'light-tools']],
      ['search=description', []],
      ['node_id=Light-Tools', ['light-tools']],
      ['publisher_id=acme', ['dark-tools', 'light-tools']],
      ['publisher_id=other', []],
      ['supported_os=linux', ['dark-tools', 'light-tools']],
      ['timestamp=2000-01-01T00:00:00Z', ['dark-tools', 'light-tools']],
      ['timestamp=2900-01-01T00:00:00Z', []],
      ['host_node_search=Greet', []],
      ['sort=name', ['dark-tools', 'light-tools']],
    ] as const)
      expect([query, await listIds(query)]).toEqual([query, ids]);
  });

  test('the nodes that its rules refuse are not listed either', async () => {
    const { service, listIds } = await keepAndStop();
    const rules = service.context.configuration.uplink as { deny: string[] };
    rules.deny = ['dark-*', 'light-tools@>=1.10'];
    expect(await listIds()).toEqual(['light-tools']);
    const { body } = await ask(`${service.url}/nodes`);
    expect(body.nodes[0]).not.toHaveProperty('latest_version');
  });

  test('the front page and the command line say so, without other advice', async () => {
    const { service, read } = await keepAndStop();
    const front = await read('/');
    expect(front).toContain('<p>2 nodes</p>');
    expect(front).toContain(`<p role="status">${DOWN} ${KEPT}</p>`);
    const none = await read('/?search=never');
    expect(none).toContain(DOWN);
    expect(none).not.toContain('fewer or shorter words');
    const env = { REGEN_BASE_URL: service.url };
    for (const flags of [[], ['--all'], ['--ndjson'], ['--all', '--ndjson']]) {
      const { exit, stdout, stderr } = await regen(['node', 'search', 'light', ...flags], { env });
      expect([exit, stdout]).toEqual([0, expect.stringContaining('light-tools')]);
      expect(stderr.match(/warning: .*/g)).toEqual([`warning: ${DOWN} ${KEPT}`]);
    }
  });
});

test('a list is complete while the registry behind answers', async () => {
  const far = await packRegistryForTest([{ name: 'remote' }]);
  const { service, read } = await serviceInFront({ url: far.service.url });
  expect((await ask(`${service.url}/nodes`)).body).not.toHaveProperty('incomplete_reason');
  expect(await read('/?search=absent')).toContain('Try fewer or shorter words.');
});

test('a registry without nodes gives no advice on words', async () => {
  const { url } = await serviceForTest();
  const front = await (await fetch(url)).text();
  expect(front).toContain('<p>No nodes yet.</p>');
});

test('a wrong naming shows as a refusal, with its reason and the setting, wherever it matters', async () => {
  const far = await packRegistryForTest([{ name: 'light-tools' }]);
  const data = folderForTest();
  const { service, lines } = await serviceInFront({ url: far.service.url, naming: 'comfy' }, { data });
  const { exit, stderr } = await regen(['node', 'search', 'light'], { env: { REGEN_BASE_URL: service.url } });
  expect([exit, stderr]).toEqual([
    0,
    expect.stringContaining('warning: The registry behind this one refuses'),
  ]);
  expect(stderr).toContain('the operator of this one finds the reason in its log');
  const [line] = lines.filter(({ message }) => message.startsWith('The uplink'));
  expect(line).toEqual({
    message: 'The uplink refuses the request.',
    facts: {
      error: expect.stringMatching(/^the server answered 400: \S.*/),
      hint: expect.stringContaining('uplink.naming'),
    },
  });
  const status = await regen(['serve', 'status', '--data', data, '--json']);
  expect(JSON.parse(status.stdout).uplink).toEqual({
    url: far.service.url,
    status: expect.stringMatching(/^refuses the request: the server answered 400: .*uplink\.naming/),
  });
});

test.each([
  [
    500,
    '{"error":"internal"}',
    'The uplink gives no usable answer.',
    'gives no usable answer; try again soon',
  ],
  [429, '{}', 'The uplink gives no usable answer.', 'gives no usable answer; try again soon'],
  [401, '{"message":"Sign in."}', 'The uplink refuses the request.', 'refuses the request; the operator'],
  [200, '<html>', 'The uplink gives no usable answer.', 'gives no usable answer; try again soon'],
])(
  'a registry behind that answers %i %s is never said not to answer',
  async (status, text, message, said) => {
    const far = await listenOn((_, response) => {
      response.writeHead(status, { 'content-type': text.startsWith('{') ? 'application/json' : 'text/html' });
      response.end(text);
    });
    onTestFinished(far.close);
    const { service, lines } = await serviceInFront({ url: far.url });
    const bulk = { node_versions: [{ node_id: 'remote', version: '1.0.0' }] };
    const answers = [
      (await ask(`${service.url}/nodes/remote`)).body.message,
      (await ask(`${service.url}/nodes`)).body.incomplete_reason,
      (await ask(`${service.url}/bulk/nodes/versions`, { method: 'POST', json: bulk })).body.node_versions[0]
        .error_message,
    ];
    for (const answer of answers) expect(answer).toContain(`The registry behind this one ${said}`);
    const logged = lines.filter((line) => line.message.startsWith('The uplink'));
    expect(logged.map((line) => line.message)).toEqual([message, message, message]);
  },
);

test('the status of a service names its uplink, and whether it answers', async () => {
  const far = await packRegistryForTest([]);
  const data = folderForTest();
  await serviceInFront({ url: far.service.url }, { data });
  const readStatus = async () => (await regen(['serve', 'status', '--data', data, '--json'])).stdout;
  expect(JSON.parse(await readStatus()).uplink).toEqual({ url: far.service.url, status: 'answers' });
  await far.service.stop();
  const { status } = JSON.parse(await readStatus()).uplink;
  expect(status).toBe('does not answer: its host refused the connection');
  const alone = folderForTest();
  await serviceForTest({ data: alone });
  const { stdout } = await regen(['serve', 'status', '--data', alone, '--json']);
  expect(JSON.parse(stdout)).not.toHaveProperty('uplink');
});
