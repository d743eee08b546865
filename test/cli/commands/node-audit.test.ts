import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hostForTest, packRegistryForTest } from '../../support/pack-registry.js';
import { filesForTest } from '../../support/packs.js';
import { ask } from '../../support/service.js';

const ignoring = { '.gitignore': 'cache/\n*.log\n', 'data/list.txt': 'a\nb\n' };

test('names one changed byte, one added file and one banned pack of many, and nothing else', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `pack-${at}`);
  const { anyone, service } = await packRegistryForTest(names.map((name) => ({ name, files: ignoring })));
  const { change, customNodes, run } = hostForTest(anyone);
  expect((await change('install', ...names)).exit).toBe(0);
  for (const name of names)
    filesForTest(
      {
        ...{
          '__pycache__/a.cpython-311.pyc': 'x',
          'models/x.safetensors': 'x',
          'cache/x.json': 'x',
          'a.log': 'x',
        },
        ...{ '.DS_Store': 'x', 'data/__pycache__/b.pyc': 'x' },
      },
      join(customNodes, name),
    );
  const whole = await run(['node', 'audit', 'custom_nodes']);
  expect([whole.exit, whole.stdout, whole.stderr]).toEqual([
    0,
    '',
    expect.stringContaining(`Compared 12 packs with ${service.url}.`),
  ]);

  const code = join(customNodes, 'pack-3', '__init__.py');
  const bytes = readFileSync(code);
  bytes[10] = (bytes[10] as number) ^ 1;
  writeFileSync(code, bytes);
  writeFileSync(join(customNodes, 'pack-7', 'data', 'more.py'), 'import os\n');
  const ban = { status: 'NodeStatusBanned', status_detail: 'it mines' };
  const answer = await ask(`${service.url}/admin/nodes/pack-9`, {
    method: 'PUT',
    token: service.ownerToken,
    json: ban,
  });
  expect(answer.status).toBe(200);
  const { exit, stdout } = await run(['node', 'audit', 'custom_nodes', '--json']);
  expect(exit).toBe(6);
  const rows = JSON.parse(stdout).map(({ node_id, finding, file }: Record<string, string>) => [
    node_id,
    finding,
    file,
  ]);
  expect(rows.sort()).toEqual([
    ['pack-3', 'changed', '__init__.py'],
    ['pack-7', 'added', 'data/more.py'],
    ['pack-9', 'banned', null],
  ]);
});

test('names missing files, states, a newer version, and what is not from the registry', async () => {
  const { anyone, owner, publish, service } = await packRegistryForTest([
    ...['missing', 'deprecated', 'withdrawn', 'hidden', 'newer', 'manager'].map((name) => ({
      name,
      files: ignoring,
    })),
  ]);
  const host = hostForTest(anyone);
  const { change, customNodes, run } = host;
  await change('install', 'missing', 'deprecated', 'withdrawn', 'hidden', 'newer', 'manager');
  await publish({ name: 'deprecated', version: '1.1.0' }, { name: 'withdrawn', version: '1.0.1' });
  await publish({ name: 'newer', version: '1.1.0-rc.1' }, { name: 'deprecated', version: '2.0.0-rc.1' });
  const put = async (path: string, json: unknown) =>
    expect((await ask(service.url + path, { method: 'PUT', token: service.ownerToken, json })).status).toBe(
      200,
    );
  await put('/publishers/acme/nodes/deprecated/versions/1.0.0', { deprecated: true });
  const flagged = { status: 'NodeVersionStatusFlagged', status_reason: 'it reads tokens' };
  await put('/admin/nodes/withdrawn/versions/1.0.0', flagged);
  rmSync(join(customNodes, 'missing', 'data', 'list.txt'));
  // It would hide itself and the other file.
  filesForTest({ '.gitignore': '*\n', 'evil.py': '' }, join(customNodes, 'hidden', 'data'));
  // As comfy-cli leaves it.
  rmSync(join(customNodes, 'manager', '.tracking'));
  filesForTest({ 'checkout/.git/HEAD': '', 'loose/__init__.py': '', 'gone.disabled/a.py': '' }, customNodes);
  const manifest = '[project]\nname = "never-published"\nversion = "1.0"\n';
  filesForTest({ 'never/pyproject.toml': manifest }, customNodes);
  const audit = async (env: Record<string, string>) => {
    const { stdout, exit } = await run(['node', 'audit', 'custom_nodes', '--json'], env);
    expect(exit).toBe(6);
    return JSON.parse(stdout).map(({ folder, finding, file, newer }: Record<string, string>) => [
      folder,
      finding,
      file,
      newer,
    ]);
  };
  const same = [
    ['checkout', 'unknown', null, null],
    ['deprecated', 'deprecated', null, '1.1.0'],
    ['hidden', 'added', 'data/.gitignore', null],
    ['hidden', 'added', 'data/evil.py', null],
    ['loose', 'unknown', null, null],
    ['missing', 'missing', 'data/list.txt', null],
    ['never', 'unknown', null, null],
  ];
  expect((await audit({})).sort()).toEqual([...same, ['withdrawn', 'withdrawn', null, '1.0.1']]);
  expect((await audit(owner)).sort()).toEqual([...same, ['withdrawn', 'flagged', null, '1.0.1']]);

  const { stdout, stderr } = await run(['node', 'outdated', 'custom_nodes']);
  expect(stdout).toBe('deprecated\t1.0.0\t1.1.0\tdeprecated\nwithdrawn\t1.0.0\t1.0.1\twithdrawn\n');
  expect(stderr).toContain('Not in the registry: checkout, loose, never.');
  const all = (await run(['node', 'outdated', 'custom_nodes', '--all'])).stdout.split('\n');
  expect(all).toContain('missing\t1.0.0\t\tmissing');
  expect(all).toContain('\t\t\tcheckout');
  expect(all).toHaveLength(10);
});

test('a changed .gitignore hides nothing', async () => {
  const { anyone } = await packRegistryForTest([{ files: ignoring }]);
  const { change, customNodes, run } = hostForTest(anyone);
  await change('install', 'pack');
  appendFileSync(join(customNodes, 'pack', '.gitignore'), '*.py\n');
  mkdirSync(join(customNodes, 'pack', 'lib'));
  writeFileSync(join(customNodes, 'pack', 'lib', 'evil.py'), '');
  const { stdout } = await run(['node', 'audit', 'custom_nodes', '--columns', 'finding,file']);
  expect(stdout.split('\n').sort()).toEqual(['', 'added\tlib/evil.py', 'changed\t.gitignore']);
});

test('packs are compared with the registry that the environment or the command line names, not with that of the lock file', async () => {
  const { anyone } = await packRegistryForTest([{}]);
  const other = await packRegistryForTest([]);
  const { change, run } = hostForTest(anyone);
  await change('install', 'pack');
  for (const command of ['audit', 'outdated']) {
    const found = /: 1 finding in 1 pack\.|Not in the registry: pack\./;
    expect((await run(['node', command, 'custom_nodes'], other.anyone)).stderr).toMatch(found);
    const named = ['node', command, 'custom_nodes', '--base-url', other.service.url];
    expect((await run(named)).stderr).toMatch(found);
  }
});
