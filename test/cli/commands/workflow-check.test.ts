import { channel } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import type { WorkflowFinding } from '../../../src/flows/workflow/check-workflows.js';
import { refreshListing } from '../../../src/service/registry/listed-host-nodes.js';
import { homeForTest, regen, type Surroundings } from '../../support/cli.js';
import { comfyRegistryForTest } from '../../support/comfy-registry.js';
import { listenOn } from '../../support/listen.js';
import { filesForTest, packForTest } from '../../support/packs.js';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile();

const seed = ['INT', { default: 0, min: 0, max: 100, control_after_generate: true }];
const SHARPEN = {
  required: { image: ['IMAGE'], seed, mode: [['soft', 'hard']], strength: ['FLOAT', { max: 2 }] },
};

/** The definitions of a version, as the check of an archive writes them. */
async function publishDefinitions(
  nodeId: string,
  version: string,
  definitions: Record<string, { inputs?: object; outputs?: unknown[] }>,
): Promise<void> {
  const { id } = await registry().active(nodeId, version);
  await registry().change(async (tx) => {
    for (const [name, { inputs = { required: {} }, outputs = ['IMAGE'] }] of Object.entries(definitions)) {
      const definition = JSON.stringify({
        input_types: JSON.stringify(inputs),
        return_types: JSON.stringify(outputs),
      });
      const row = { version_id: id, node_id: nodeId, name, definition, policy: 'HostNodePolicyActive' };
      await tx.insertInto('host_nodes').values(row).execute();
    }
    await tx.updateTable('versions').set({ extract_status: 'success' }).where('id', '=', id).execute();
    await refreshListing(tx, nodeId);
  });
}

beforeAll(async () => {
  await publishDefinitions('light', '1.0.0', { Sharpen: { inputs: SHARPEN }, Glow: {} });
  // One more widget at the end keeps the others in place.
  const longer = { required: { ...SHARPEN.required, radius: ['INT', { default: 1 }] } };
  await publishDefinitions('light', '1.1.0', { Sharpen: { inputs: longer }, Glow: {} });
  const { image, ...widgets } = SHARPEN.required;
  const shifted = { required: { image, radius: ['INT', { default: 1 }], ...widgets } };
  await publishDefinitions('light', '2.0.0', { Sharpen: { inputs: shifted } });
  await publishDefinitions('alpha', '1.0.0', { Both: {}, Masks: { outputs: ['MASK'] } });
  await publishDefinitions('beta', '1.0.0', { Both: {} });
});

const LIGHT = { cnr_id: 'light', ver: '1.0.0', 'Node name for S&R': 'Sharpen' };

interface EditorNode {
  readonly id: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A file of the graph editor: a picture that is sharpened and saved. */
function createFlow(sharpen: object = {}, more: readonly EditorNode[] = [], rest: object = {}) {
  return {
    version: 0.4,
    nodes: [
      { id: 1, type: 'LoadImage', properties: {}, outputs: [{ name: 'IMAGE', type: 'IMAGE', links: [10] }] },
      {
        id: 2,
        type: 'Sharpen',
        mode: 0,
        inputs: [{ name: 'image', type: 'IMAGE', link: 10 }],
        outputs: [{ name: 'IMAGE', type: 'IMAGE', links: [11] }],
        widgets_values: [7, 'randomize', 'soft', 1.5],
        properties: LIGHT,
        ...sharpen,
      },
      { id: 3, type: 'SaveImage', properties: {}, inputs: [{ name: 'images', type: 'IMAGE', link: 11 }] },
      ...more,
    ],
    links: [[10, 1, 0, 2, 0, 'IMAGE'], [11, 2, 0, 3, 0, 'IMAGE'], null],
    ...rest,
  };
}

async function check(flow: unknown, flags: readonly string[] = [], more: Surroundings = {}) {
  const cwd = more.cwd ?? filesForTest({ 'flow.json': JSON.stringify(flow) });
  const env = { REGEN_BASE_URL: registry().url };
  const ran = await regen(['workflow', 'check', 'flow.json', ...flags, '--json'], { env, ...more, cwd });
  return { ...ran, answer: ran.stdout ? JSON.parse(ran.stdout) : undefined };
}

/** The findings of a check, each in one line. */
function describeFindings({ findings }: { findings: Record<string, unknown>[] }): string[] {
  return findings.map(({ node, problem, detail }) => `${node} ${problem}: ${detail}`);
}

describe('workflow check', () => {
  it('names the packs that a workflow records, and finds nothing wrong with their own version', async () => {
    const { exit, answer } = await check(createFlow());
    expect([exit, answer.findings]).toEqual([0, []]);
    expect(answer.packs).toEqual([
      {
        node_id: 'light',
        version: '1.0.0',
        host_node_names: ['Sharpen'],
        files: ['flow.json'],
        recorded: true,
      },
    ]);
    const cwd = filesForTest({ 'flow.json': JSON.stringify(createFlow()) });
    const { stdout, stderr } = await regen(['workflow', 'check', 'flow.json'], {
      env: { REGEN_BASE_URL: registry().url },
      cwd,
    });
    expect([stdout, stderr]).toEqual([
      'pack\tlight 1.0.0\t\t1 node\n',
      `3 nodes in 1 workflow, 0 problems, checked with ${registry().url}.\n`,
    ]);
  });

  it.each([
    [
      'a choice that is gone',
      { widgets_values: [7, 'fixed', 'medium', 1] },
      '2 choice: mode: "medium" is none of soft, hard',
    ],
    ['a number out of range', { widgets_values: [7, 'fixed', 'soft', 3] }, '2 range: strength: 3 is above 2'],
    [
      'a required input without a link',
      { inputs: [{ name: 'image', type: 'IMAGE', link: null }] },
      '2 input missing: image: IMAGE is required and not given',
    ],
    [
      'values by name',
      { widgets_values: { mode: 'medium' } },
      '2 choice: mode: "medium" is none of soft, hard',
    ],
  ])('finds %s', async (_, sharpen, finding) => {
    const { exit, answer } = await check(createFlow(sharpen));
    expect([exit, describeFindings(answer)]).toEqual([6, [finding]]);
  });

  it('notes an input that is missing where nothing may run the node', async () => {
    const last = { id: 3, type: 'Glow', properties: LIGHT, outputs: [{ name: 'IMAGE', links: null }] };
    const flow = createFlow({ inputs: [{ name: 'image', type: 'IMAGE', link: null }] });
    flow.nodes = [...flow.nodes.filter(({ id }) => id !== 3), last];
    const { exit, answer } = await check(flow);
    expect([exit, answer.findings.map(({ problem, breaks }: WorkflowFinding) => [problem, breaks])]).toEqual([
      0,
      [['input missing', false]],
    ]);
  });

  it('takes the type of an output that reroutes hand on, not the type that they recorded', async () => {
    const reroute: EditorNode = { id: 4, type: 'Reroute', inputs: [{ name: '', link: 12 }] };
    const links = [
      [12, 1, 0, 4, 0, '*'],
      [10, 4, 0, 2, 0, 'OLD_IMAGE'],
      [11, 2, 0, 3, 0, 'IMAGE'],
    ];
    const { exit, answer } = await check(createFlow({}, [reroute], { links }));
    expect([exit, answer.findings]).toEqual([0, []]);
  });

  it('does not look at the values of muted and bypassed nodes, but names their packs', async () => {
    for (const mode of [2, 4]) {
      const { exit, answer } = await check(createFlow({ mode, widgets_values: [7, 'fixed', 'medium', 3] }));
      expect([exit, answer.findings, answer.packs.length]).toEqual([0, [], 1]);
    }
  });

  it('accepts any type for *, one of several types in common, and refuses others', async () => {
    const masks: EditorNode = {
      id: 4,
      type: 'Masks',
      properties: { cnr_id: 'alpha', ver: '1.0.0', 'Node name for S&R': 'Masks' },
      outputs: [{ name: 'MASK', type: 'MASK', links: [10] }],
    };
    const links = (slot: number) => ({
      links: [
        [10, 4, slot, 2, 0, 'MASK'],
        [11, 2, 0, 3, 0, 'IMAGE'],
      ],
    });
    const { answer } = await check(createFlow({}, [masks], links(0)));
    expect(describeFindings(answer)).toEqual(['2 link type: image: takes IMAGE, and is connected to MASK']);
    const beyond = await check(createFlow({}, [masks], links(5)));
    expect(describeFindings(beyond.answer)).toEqual([
      '2 output missing: image: connected to output 6 of a node with 1',
    ]);
  });

  it('names nodes that no pack has and that several have, and does not report those of the editor', async () => {
    const from = (type: string) => ({ type, properties: { 'Node name for S&R': type } });
    const more = [
      { id: 4, ...from('Nowhere') },
      { id: 5, ...from('Both') },
      { id: 6, ...from('Glow') },
      { id: 7, type: 'Note', properties: {} },
      { id: 8, type: 'SetNode', properties: {} },
      { id: 9, ...from('__proto__') },
      { id: 10, ...from('constructor') },
    ];
    const { exit, answer } = await check(createFlow({}, more));
    expect(exit).toBe(6);
    expect(describeFindings(answer)).toEqual([
      '4 node missing: no pack of the registry has it',
      '5 several packs: alpha 1.0.0, beta 1.0.0',
      '8 node unknown: no pack of the registry has it, and nothing in the file says that it is more than a node of the editor',
      '9 node missing: no pack of the registry has it',
      '10 node missing: no pack of the registry has it',
    ]);
    // The pack that the workflow needs anyway has Glow.
    expect(answer.packs[0].host_node_names).toEqual(['Sharpen', 'Glow']);
  });

  it('takes the repository that a workflow records to tell packs with the same node apart', async () => {
    const from = (aux_id: unknown) => ({ properties: { aux_id, ver: 'f'.repeat(40) } });
    const more = [
      { id: 4, type: 'Both', ...from('someone/Beta') },
      { id: 5, type: 'Both', ...from('../../beta') },
      { id: 6, type: 'Nowhere', ...from('someone/nowhere') },
      { id: 7, type: 'Nowhere', ...from(['x']) },
    ];
    const { answer } = await check(createFlow({}, more));
    expect(describeFindings(answer)).toEqual([
      '5 several packs: alpha 1.0.0, beta 1.0.0',
      '6 node missing: no pack of the registry has it; the file says that it is from github.com/someone/nowhere',
      '7 node unknown: no pack of the registry has it, and nothing in the file says that it is more than a node of the editor',
    ]);
    expect(answer.packs.map(({ node_id }: { node_id: string }) => node_id)).toEqual(['beta', 'light']);
  });

  it('reads subgraphs, also those that contain themselves, and the nodes in them once', async () => {
    const id = 'aaaaaaaa-0000-4000-8000-000000000000';
    const inner = {
      id,
      name: 'Inner',
      nodes: [
        {
          id: 2,
          type: 'Sharpen',
          inputs: [{ name: 'image', type: 'IMAGE', link: 1 }],
          properties: LIGHT,
          widgets_values: [7, 'fixed', 'medium', 1],
        },
        { id: 3, type: id },
      ],
      links: [{ id: 1, origin_id: -10, origin_slot: 0, target_id: 2, target_slot: 0, type: 'MASK' }],
    };
    const flow = createFlow(
      {},
      [
        { id: 4, type: id },
        { id: 5, type: id },
      ],
      { definitions: { subgraphs: [inner] } },
    );
    const { answer } = await check(flow);
    expect(describeFindings(answer)).toEqual([
      'Inner/2 link type: image: takes IMAGE, and is connected to MASK',
      'Inner/2 choice: mode: "medium" is none of soft, hard',
    ]);
  });

  it('reads the format of the API, where every required input must be given', async () => {
    const flow = {
      1: { class_type: 'LoadImage', inputs: { image: 'a.png' } },
      2: { class_type: 'Masks', inputs: {} },
      3: { class_type: 'Sharpen', inputs: { image: ['2', 0], seed: 1, mode: 'soft' } },
    };
    const { answer } = await check(flow, ['--with', 'light@1.0.0']);
    expect(describeFindings(answer)).toEqual([
      '3 input missing: strength: FLOAT is required and not given',
      '3 link type: image: takes IMAGE, and is connected to MASK',
    ]);
  });

  it('finds the nodes of a file that records nothing in the packs that another file records', async () => {
    const glow = {
      1: { class_type: 'Glow', inputs: {} },
      2: { class_type: 'Sharpen', inputs: { image: ['1', 0], seed: 1, mode: 'soft', strength: 1 } },
    };
    const cwd = filesForTest({ 'api.json': JSON.stringify(glow), 'flow.json': JSON.stringify(createFlow()) });
    const { exit, answer } = await check('', ['api.json'], { cwd });
    expect([exit, answer.findings]).toEqual([0, []]);
    expect(answer.packs).toMatchObject([
      { node_id: 'light', version: '1.0.0', host_node_names: ['Sharpen', 'Glow'], recorded: true },
    ]);
    const gone = await check('', ['api.json', '--with', 'light@2.0.0'], { cwd });
    expect([gone.exit, describeFindings(gone.answer)]).toEqual([
      6,
      [
        '2 position: saved as seed, mode, strength, and read as radius, seed, mode, strength',
        '1 node missing: light 2.0.0 has no such node',
        '2 input missing: radius: INT is required and not given',
      ],
    ]);
    const upgraded = await check('', ['api.json', '--upgrade'], { cwd });
    expect(upgraded.answer.upgrades).toMatchObject([{ node_id: 'light', to: '1.0.0', newest: '2.0.0' }]);
  });

  it('says that the lock file has another version of a pack than the one that is checked', async () => {
    const cwd = filesForTest({ 'flow.json': JSON.stringify(createFlow()) });
    const lock = (version: string) =>
      writeFileSync(
        join(cwd, 'team.lock'),
        `format = 1\nregistry = "local"\nnaming = "regen"\n[[node]]\nid = "light"\nversion = "${version}"\n`,
      );
    const env = { REGEN_BASE_URL: registry().url };
    const run = async (...flags: string[]) =>
      (await regen(['workflow', 'check', 'flow.json', '--lock-file', 'team.lock', ...flags], { env, cwd }))
        .stderr;
    lock('1.1.0');
    expect(await run()).toBe(
      `light is checked as saved, 1.0.0; team.lock has 1.1.0: --with light@1.1.0\n3 nodes in 1 workflow, 0 problems, checked with ${registry().url}.\n`,
    );
    expect(await run('--with', 'light@1.1.0')).not.toContain('as saved');
    lock('1.0.0');
    expect(await run()).not.toContain('as saved');
  });

  describe('of nodes that record no version', () => {
    const sharpen = { image: ['1', 0], seed: 1, mode: 'soft', strength: 1 };
    const api = {
      1: { class_type: 'LoadImage', inputs: { image: 'a.png' } },
      2: { class_type: 'Sharpen', inputs: sharpen },
    };
    const FORMATS: [string, object, string, string][] = [
      ['of the API', api, '1.0.0', '2 input missing: radius'],
      ['of the editor', createFlow({ properties: {} }), '1.1.0', '2 position: saved as seed'],
      [
        'with a pack only',
        createFlow({ properties: { cnr_id: 'light' } }),
        '1.1.0',
        '2 position: saved as seed',
      ],
    ];
    const lockForTest = (flow: object, version?: string) => {
      const node = `[[node]]\nid = "light"\nversion = "${version}"\n`;
      const text = `format = 1\nregistry = "${registry().url}"\nnaming = "regen"\n${version ? node : ''}`;
      const cwd = filesForTest({ 'flow.json': JSON.stringify(flow), 'regen.lock': text });
      const run = async (...flags: string[]) => {
        const ran = await check('', flags, { cwd });
        const locked = /version = "(.*)"/.exec(readFileSync(join(cwd, 'regen.lock'), 'utf8'))?.[1];
        const told = await regen(['workflow', 'check', 'flow.json', ...flags], { cwd });
        return {
          ...ran,
          stderr: told.stderr,
          locked,
          packs: ran.answer.packs.map((one: { version: string }) => one.version),
        };
      };
      return { cwd, run };
    };

    it.each(FORMATS)(
      'checks a file %s against the locked version, and upgrades from it',
      async (_, flow, to, breaks) => {
        const { run } = lockForTest(flow, '1.0.0');
        const checked = await run();
        expect([checked.exit, checked.packs, checked.answer.findings]).toEqual([0, ['1.0.0'], []]);
        const upgraded = await run('--upgrade', '--lock');
        expect(upgraded.stderr).toContain('Locked 1 pack in regen.lock.');
        expect(upgraded.answer.upgrades).toMatchObject([{ from: '1.0.0', to, newest: '2.0.0' }]);
        const found = describeFindings({ findings: upgraded.answer.upgrades[0].breaks });
        expect(found).toEqual([expect.stringContaining(breaks)]);
        expect([upgraded.exit, upgraded.locked]).toEqual([0, to]);
      },
    );

    it.each(FORMATS)(
      'does not lock for a file %s what breaks more than the locked version',
      async (_, flow, __, breaks) => {
        const { run } = lockForTest(flow, '1.0.0');
        for (const flags of [['--lock'], ['--lock', '--upgrade']]) {
          const { exit, packs, answer, locked, stderr } = await run('--with', 'light@2.0.0', ...flags);
          expect([exit, packs, locked]).toEqual([6, ['2.0.0'], '1.0.0']);
          expect(describeFindings(answer)).toContainEqual(expect.stringContaining(breaks));
          expect(stderr).toContain(
            'light 2.0.0 is not locked, because it has problems that the version in regen.lock does not have.',
          );
        }
      },
    );

    it.each(FORMATS)('checks a file %s against the latest version if none is locked', async (_, flow) => {
      const { run } = lockForTest(flow);
      const { packs, locked, stderr } = await run('--lock');
      expect([packs, locked]).toEqual([['2.0.0'], '2.0.0']);
      expect(stderr).toMatch(/which completes it: regen node sync .*--into <folder>$/m);
    });

    it('advises to install from the lock file only if it lacks something of these packs', async () => {
      const { cwd, run } = lockForTest(api);
      expect((await run('--upgrade', '--lock')).stderr).toContain('which completes it');
      const path = join(cwd, 'regen.lock');
      writeFileSync(
        path,
        readFileSync(path, 'utf8').replace(/(version = .*\n)/, `$1tree = "${'ab'.repeat(32)}"\n`),
      );
      const before = readFileSync(path, 'utf8');
      const { stderr } = await run('--upgrade', '--lock');
      expect(stderr).toContain('Locked 1 pack in regen.lock.');
      expect(stderr).not.toContain('completes');
      expect(readFileSync(path, 'utf8')).toBe(before);
    });

    it('warns of a locked version that has problems, where none was locked', async () => {
      const { exit, locked, stderr } = await lockForTest(api).run('--lock');
      expect([exit, locked]).toEqual([6, '2.0.0']);
      expect(stderr).toContain(
        'light 2.0.0 has problems with these workflows. To look for a version without them, pass --upgrade; to try one, --with light@<version>.',
      );
    });

    it.each([undefined, { cnr_id: 'light' }])(
      'locks an older version than the latest, if that has problems and no version is recorded (%o)',
      async (properties) => {
        const old = createFlow({ type: 'Glow', widgets_values: [], inputs: [], properties });
        const { run } = lockForTest(properties ? old : api);
        const { exit, packs, locked, answer, stderr } = await run('--upgrade', '--lock');
        const to = properties ? '1.1.0' : '1.0.0';
        expect([exit, packs, locked]).toEqual([0, [to], to]);
        expect(answer.upgrades).toMatchObject([{ from: '2.0.0', to, newest: '2.0.0' }]);
        const found = describeFindings({ findings: answer.upgrades[0].breaks });
        const breaks = properties ? '2 node missing: light 2.0.0 has no such node' : 'radius';
        expect(found).toEqual([expect.stringContaining(breaks)]);
        expect(stderr).not.toContain('has problems');
      },
    );

    it('checks the latest version with --upgrade alone, because that is what would be installed', async () => {
      const { exit, packs, answer } = await lockForTest(api).run('--upgrade');
      expect([exit, packs]).toEqual([6, ['2.0.0']]);
      expect(answer.upgrades).toMatchObject([{ from: '2.0.0', to: '1.0.0' }]);
    });

    it('keeps the latest version where no older one fits better', async () => {
      const nowhere = { 1: { class_type: 'Sharpen', inputs: { mode: 'unknown' } } };
      const { exit, locked, answer, stderr } = await lockForTest(nowhere).run('--upgrade', '--lock');
      expect([exit, locked]).toEqual([6, '2.0.0']);
      expect(answer.upgrades).toMatchObject([{ from: '2.0.0', to: '2.0.0', newest: '2.0.0', breaks: [] }]);
      expect(stderr).toContain('To try another version, pass --with light@<version>.');
    });

    it('names a node that only a later version than the locked one has, and upgrades to it', async () => {
      await publishDefinitions('newer', '1.0.0', { Old: {} });
      await publishDefinitions('newer', '1.1.0', { Old: {}, New: {} });
      const { cwd, run } = lockForTest({ 1: { class_type: 'New', inputs: {} } });
      const path = join(cwd, 'regen.lock');
      writeFileSync(path, `${readFileSync(path, 'utf8')}[[node]]\nid = "newer"\nversion = "1.0.0"\n`);
      const { exit, answer } = await run();
      expect([exit, describeFindings(answer)]).toEqual([6, ['1 node missing: newer 1.0.0 has no such node']]);
      expect((await run('--upgrade', '--lock')).locked).toBe('1.1.0');
    });

    it('says that the locked version was withdrawn, and checks the latest instead', async () => {
      const { run } = lockForTest(api, '0.9.0');
      const { packs, stderr } = await run();
      expect([packs, stderr]).toEqual([
        ['2.0.0'],
        expect.stringContaining('light 0.9.0 is withdrawn: the registry does not offer this version'),
      ]);
    });

    it('names the locked packs that were withdrawn where no pack has a node', async () => {
      const { run } = lockForTest({ 1: { class_type: 'Nowhere', inputs: {} } }, '0.9.0');
      const { exit, stderr } = await run();
      expect([exit, stderr]).toEqual([6, expect.stringContaining('light 0.9.0 is withdrawn')]);
      const { run: check } = lockForTest({ 1: { class_type: 'Both', inputs: {} } }, '0.9.0');
      expect((await check()).stderr).not.toContain('withdrawn');
    });

    it('says in the list which versions are those of the lock file', async () => {
      const { cwd } = lockForTest(api, '1.0.0');
      const { stdout } = await regen(['workflow', 'check', 'flow.json'], { cwd });
      expect(stdout).toBe('pack\tlight 1.0.0\t\t1 node, found by name, version of the lock file\n');
    });
  });

  it('says what breaks with another version', async () => {
    expect((await check(createFlow(), ['--with', 'light@1.1.0'])).answer.findings).toEqual([]);
    const { exit, answer } = await check(createFlow(), ['--with', 'LIGHT@2.0.0']);
    expect([exit, describeFindings(answer)]).toEqual([
      6,
      ['2 position: saved as seed, mode, strength, and read as radius, seed, mode, strength'],
    ]);
    expect((await check(createFlow(), ['--with', 'light'])).exit).toBe(2);
  });

  it('finds the highest version that keeps all the workflows whole', async () => {
    const { exit, answer } = await check(createFlow(), ['--upgrade']);
    expect(exit).toBe(0);
    expect(answer.upgrades).toMatchObject([
      { node_id: 'light', from: '1.0.0', to: '1.1.0', newest: '2.0.0' },
    ]);
    expect(describeFindings({ findings: answer.upgrades[0].breaks })).toEqual([
      '2 position: saved as seed, mode, strength, and read as radius, seed, mode, strength',
    ]);
    const glow = createFlow({ type: 'Glow', widgets_values: [], inputs: [] });
    const gone = await check(glow, ['--upgrade']);
    expect(gone.answer.upgrades).toMatchObject([{ to: '1.1.0' }]);
    expect(describeFindings({ findings: gone.answer.upgrades[0].breaks })).toEqual([
      '2 node missing: light 2.0.0 has no such node',
    ]);
  });

  it('writes the versions into the lock file, and leaves other packs there', async () => {
    const cwd = filesForTest({ 'flow.json': JSON.stringify(createFlow()) });
    const read = () => readFileSync(join(cwd, 'regen.lock'), 'utf8');
    const locked = (version: string) =>
      `[[node]]\nid = "light"\nversion = "${version}"\nsha256 = "${'00'.repeat(32)}"\n`;
    expect((await check('', ['--lock'], { cwd })).exit).toBe(0);
    expect(read()).toContain(locked('1.0.0'));
    writeFileSync(join(cwd, 'regen.lock'), `${read()}\n[[node]]\nid = "other"\nversion = "3.0.0"\n`);
    await check('', ['--lock', '--upgrade'], { cwd });
    expect(read()).toContain(locked('1.1.0'));
    expect(read()).toContain('id = "other"\nversion = "3.0.0"');
    writeFileSync(
      join(cwd, 'regen.lock'),
      read().replace(/registry = .*/, 'registry = "https://other.example"'),
    );
    const refused = await check('', ['--lock'], { cwd });
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining('regen.lock belongs to the registry'),
    ]);
  });

  it('says that a pack or a version is not in the registry', async () => {
    for (const [pack, detail] of [
      [{ cnr_id: 'light', ver: '0.9.0' }, 'the registry has no light 0.9.0'],
      [{ cnr_id: 'nothing' }, 'the registry has no nothing'],
    ] as const) {
      const { exit, answer } = await check(createFlow({ properties: pack }));
      expect([exit, describeFindings(answer)]).toEqual([6, [` version missing: ${detail}`]]);
    }
  });

  it('warns of a needed version that is deprecated', async () => {
    const path = '/publishers/acme/nodes/light/versions/1.0.0';
    const deprecate = (deprecated: boolean) =>
      registry().ok('ann', 'PUT', path, { deprecated, deprecation_message: 'use 1.1.0' });
    onTestFinished(async () => void (await deprecate(false)));
    const cwd = filesForTest({ 'flow.json': JSON.stringify(createFlow()) });
    const run = () =>
      regen(['workflow', 'check', 'flow.json'], { env: { REGEN_BASE_URL: registry().url }, cwd });
    expect((await run()).stderr).not.toContain('warning');
    await deprecate(true);
    const { exit, stderr } = await run();
    expect([exit, stderr]).toEqual([
      0,
      expect.stringContaining('warning: light 1.0.0 is deprecated: use 1.1.0'),
    ]);
  });

  it('asks for all definitions in one request, and for the state of the packs in another', async () => {
    const types = Array.from({ length: 300 }, (_, at) => ({
      id: 100 + at,
      type: `Unknown ${at}`,
      properties: LIGHT,
    }));
    const requests: string[] = [];
    const started = channel('http.server.request.start');
    const note = (message: unknown) => {
      const { method, url } = (message as { request: IncomingMessage }).request;
      requests.push(`${method} ${url}`);
    };
    started.subscribe(note);
    await check(createFlow({}, types));
    started.unsubscribe(note);
    expect(requests).toEqual(['POST /bulk/host-nodes', 'POST /bulk/nodes/versions']);
  });

  it('checks the nodes of the host against what it says of them', async () => {
    const info = {
      LoadImage: { input: { required: {} }, output: ['IMAGE', 'MASK'], python_module: 'nodes' },
      SaveImage: { input: { required: { images: ['LATENT'] } }, output: [], python_module: 'nodes' },
      Local: { input: {}, output: [], python_module: 'custom_nodes.mine' },
    };
    const cwd = filesForTest({
      'flow.json': JSON.stringify(createFlow({}, [{ id: 4, type: 'Local' }])),
      'info.json': JSON.stringify(info),
    });
    const { answer } = await check('', ['--object-info', 'info.json'], { cwd });
    expect(describeFindings(answer)).toEqual([
      '3 link type: images: takes LATENT, and is connected to IMAGE',
    ]);
    writeFileSync(join(cwd, 'info.json'), '{"a":1}');
    const wrong = await check('', ['--object-info', 'info.json'], { cwd });
    expect([wrong.exit, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('info.json has no node definitions of a host'),
    ]);
  });

  describe('of an engine', () => {
    const node = (required: object, output = ['IMAGE']) => ({
      input: { required },
      ...{ output, python_module: 'nodes' },
    });
    const SCALE = { image: ['IMAGE'], scale_by: ['FLOAT', { min: 0.01, max: 8 }], tiled: ['BOOLEAN'] };
    const info = {
      LoadImage: node({ image: [['a.png', 'b.png']] }),
      ImageScaleBy: node({ ...SCALE, method: [['bilinear', 'lanczos']], count: ['INT', { min: 1 }] }),
      SaveImage: node({ images: ['IMAGE'], filename_prefix: ['STRING'] }, []),
    };
    const checkGraph = (scale: object, images: unknown = ['2', 0]) => {
      const inputs = { image: ['1', 0], scale_by: 2, tiled: true, method: 'lanczos', count: 1, ...scale };
      const flow = {
        1: { class_type: 'LoadImage', inputs: { image: '{{image}}' } },
        2: { class_type: 'ImageScaleBy', inputs },
        3: { class_type: 'SaveImage', inputs: { images, filename_prefix: 'x' } },
      };
      const files = { 'flow.json': JSON.stringify(flow), 'info.json': JSON.stringify(info) };
      return check('', ['--object-info', 'info.json'], { cwd: filesForTest(files) });
    };

    it('takes a placeholder for any value of its input', async () => {
      const { exit, answer } = await checkGraph({
        ...{ scale_by: '{{scale_factor}}', tiled: '{{watermark=true}}', method: '{{flavor}}-{{style}}' },
        count: '{{sharpen/50=1}}',
      });
      expect([exit, answer.findings]).toEqual([0, []]);
    });

    it('takes text with a placeholder for text', async () => {
      const { answer } = await checkGraph({ scale_by: 'about {{scale_factor}}' });
      expect(describeFindings(answer)).toEqual([
        '2 value: scale_by: "about {{scale_factor}}" is not a value of FLOAT',
      ]);
    });

    it('names links to nodes that the file does not have, also of nodes that are not known', async () => {
      const linked = '3 link: images: links to node 9, which the workflow does not have';
      const { answer } = await checkGraph({}, ['9', 0]);
      expect(describeFindings(answer)).toEqual([linked]);
      const flow = { 3: { class_type: 'Nowhere', inputs: { images: ['9', 0] } } };
      expect(describeFindings((await check(flow)).answer)).toEqual([
        linked,
        '3 node missing: no pack of the registry has it',
      ]);
    });

    it('says that neither a pack nor the host has a class', async () => {
      const flow = { 1: { class_type: 'FilmGrain', inputs: {} } };
      const cwd = filesForTest({ 'flow.json': JSON.stringify(flow), 'info.json': JSON.stringify(info) });
      const { answer } = await check('', ['--object-info', 'info.json'], { cwd });
      expect(describeFindings(answer)).toEqual([
        '1 node missing: no pack of the registry has it, and the host has not loaded it',
      ]);
    });

    it.each([
      ['where nothing listens', undefined, 7, 'Is ComfyUI running, and is the address right?'],
      ['of something else', 404, 2, 'Pass the address of a running ComfyUI'],
    ])('asks for the right address in place of one %s', async (_, status, expected, advice) => {
      const { url, close } = await listenOn((__, response) => void response.writeHead(status ?? 500).end());
      onTestFinished(close);
      if (status === undefined) await close();
      const { exit, stderr } = await check({ 1: { class_type: 'LoadImage' } }, ['--object-info', url]);
      expect([exit, stderr]).toEqual([expected, expect.stringContaining(advice)]);
      expect(stderr).not.toContain('regen auth status');
    });
  });

  it('shows whether a finding is a problem on a narrow screen', async () => {
    const folder = 'a-folder-with-a-long-name/and-another-one';
    const flow = JSON.stringify({ 3: { class_type: 'SaveImage', inputs: { images: ['9', 0] } } });
    const cwd = filesForTest({ [`${folder}/one.json`]: flow, [`${folder}/two.json`]: flow });
    const env = { REGEN_BASE_URL: registry().url };
    const screen = { cwd, env, terminal: true, columns: 80 };
    const { stdout, stderr } = await regen(['workflow', 'check', `${folder}/*.json`], screen);
    expect(stdout).toMatch(/KIND +problem/);
    expect(stdout).toMatch(/WHERE +\S+two\.json:3/);
    expect(stderr).not.toContain('Hidden');
  });

  it('reads several files, patterns and standard input, and reports all that are no workflows', async () => {
    const flow = JSON.stringify(createFlow());
    const cwd = filesForTest({ 'a/one.json': flow, 'a/b/two.json': flow, 'a/three.txt': 'x' });
    const env = { REGEN_BASE_URL: registry().url };
    const run = (args: string[], stdin = '') =>
      regen(['workflow', 'check', ...args, '--json'], { cwd, env, stdin });
    const all = await run(['a/**/*.json', '-'], flow);
    expect(JSON.parse(all.stdout).workflows.map(({ file }: { file: string }) => file)).toEqual([
      'a/b/two.json',
      'a/one.json',
      '-',
    ]);
    writeFileSync(join(cwd, 'deep.json'), '['.repeat(100_000));
    writeFileSync(join(cwd, 'list.json'), '[]');
    const wrong = await run(['a/three.txt', 'deep.json', 'list.json', 'a/one.json']);
    expect(wrong.exit).toBe(2);
    expect(JSON.parse(wrong.stderr).error.details).toEqual([
      { path: 'a/three.txt', message: 'is not JSON' },
      { path: 'deep.json', message: 'is nested too deeply' },
      { path: 'list.json', message: 'is not a workflow: it has neither nodes nor entries with a class_type' },
    ]);
    expect((await run(['*.png'])).exit).toBe(2);
  });
});

test('a registry without the bulk read is asked version by version, with its own names', async () => {
  const { url, pat } = await comfyRegistryForTest();
  const home = homeForTest();
  const env = { REGEN_PROFILE: 'comfy', REGEN_TOKEN: 'me', REGEN_PUBLISH_TOKEN: pat };
  await regen(['config', 'set', 'profiles.comfy.base_url', url], { home });
  await regen(['config', 'set', 'profiles.comfy.naming', 'comfy'], { home });
  for (const line of ['publisher create --id acme --name Acme', `version publish ${packForTest()}`]) {
    const ran = await regen(line.split(' '), { home, env });
    expect(ran.exit, ran.stderr).toBe(0);
  }
  const greet = { type: 'Greet', properties: { cnr_id: 'pack', ver: '1.0.0', 'Node name for S&R': 'Greet' } };
  const flow = {
    nodes: [
      { id: 1, ...greet },
      { id: 2, ...greet, properties: {} },
    ],
    links: [],
  };
  const { exit, answer } = await check(flow, [], { home, env });
  expect([exit, answer.findings]).toEqual([0, []]);
  expect(answer.packs).toMatchObject([{ node_id: 'pack', version: '1.0.0', host_node_names: ['Greet'] }]);
});
