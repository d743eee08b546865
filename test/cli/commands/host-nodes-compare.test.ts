import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { regen } from '../../support/cli.js';
import { listenOn } from '../../support/listen.js';
import { filesForTest } from '../../support/packs.js';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile();

const definitions = {
  Blur: {
    category: 'image',
    input_types: {
      required: { image: ['IMAGE'], font: [{ $computed: 'fonts' }], mode: [['a', { $computed: 'more' }]] },
    },
    return_types: ['IMAGE'],
    output_is_list: [false],
  },
  Glow: {
    input_types: { required: {}, optional: { $computed: 'kwargs' } },
    return_types: [{ $computed: 'of a base' }],
  },
  Extra: { input_types: { required: {} }, return_types: [] },
};

beforeAll(async () => {
  const { id } = await registry().active('light', '1.0.0');
  await registry().change(async (tx) => {
    for (const [name, { input_types, return_types, ...rest }] of Object.entries(definitions)) {
      const texts = { input_types: JSON.stringify(input_types), return_types: JSON.stringify(return_types) };
      const definition = JSON.stringify({ ...texts, ...rest });
      const row = { version_id: id, node_id: 'light', name, definition, policy: 'HostNodePolicyActive' };
      await tx.insertInto('host_nodes').values(row).execute();
    }
  });
});

/** What a host answers that has the pack installed. */
const live = {
  Blur: {
    input: { required: { image: ['IMAGE'], font: [['Arial', 'Mono']], mode: [['a', 'b', 'c']] } },
    output: ['IMAGE'],
    output_name: ['IMAGE'],
    output_is_list: [false],
    category: 'image',
    description: '',
    python_module: 'custom_nodes.light',
  },
  Glow: {
    input: { required: {}, optional: { any: ['*'] } },
    output: ['MASK', 'IMAGE'],
    python_module: 'custom_nodes.light',
  },
  KSampler: { input: {}, output: [], python_module: 'nodes' },
};

const env = () => ({ REGEN_BASE_URL: registry().url });
const LINE = ['host-nodes', 'compare', 'light', '1.0.0', '--object-info'];

it('finds no difference where the host has what is listed, or a value for what is computed', async () => {
  const cwd = filesForTest({ 'info.json': JSON.stringify(live) });
  const { exit, stdout } = await regen([...LINE, 'info.json', '--json'], { env: env(), cwd });
  expect([exit, JSON.parse(stdout)]).toEqual([0, { differences: [], notLoaded: ['Extra'], equal: 2 }]);
  const { stderr } = await regen([...LINE, 'info.json'], { env: env(), cwd });
  expect(stderr).toContain('The host has not loaded Extra.\n2 of 3 definitions equal, 1 not loaded by the');
});

it('names the part of a definition that differs, and nodes that only the host has', async () => {
  const required = { ...live.Blur.input.required, image: ['MASK'] };
  const more = { input: {}, output: [], python_module: 'custom_nodes.light' };
  const info = { ...live, Blur: { ...live.Blur, input: { required }, output_is_list: [true] }, New: more };
  const { url, close } = await listenOn((request, response) => {
    response.end(request.url === '/base/object_info' ? JSON.stringify(info) : '{}');
  });
  onTestFinished(close);
  const { exit, stdout } = await regen([...LINE, `${url}/base/`], { env: env() });
  expect(exit).toBe(6);
  expect(stdout.trimEnd().split('\n')).toEqual([
    'Blur\tinput_types.required.image\t["IMAGE"]\t["MASK"]',
    'Blur\toutput_is_list\t[false]\t[true]',
    'New\tnode\t\tloaded',
  ]);
});

it('needs an answer of a host that has the pack', async () => {
  const cwd = filesForTest({ 'other.json': JSON.stringify({ KSampler: live.KSampler }), 'text.json': '"x"' });
  const other = await regen([...LINE, 'other.json'], { env: env(), cwd });
  expect([other.exit, other.stderr]).toEqual([
    6,
    'The host has not loaded Blur, Extra, Glow; restart it after installing.\n0 of 3 definitions equal, 3 not loaded by the host.\n',
  ]);
  expect((await regen([...LINE, 'text.json'], { env: env(), cwd })).stderr).toContain(
    'text.json has no node definitions',
  );
  await registry().active('light', '1.1.0');
  const empty = await regen([...LINE, 'other.json'].with(3, '1.1.0'), { env: env(), cwd });
  expect(empty.stderr).toContain('The registry has no definitions of light 1.1.0.');
  const missing = await regen(LINE.slice(0, -1), { env: env(), cwd });
  expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining('--object-info is missing.')]);
});
