import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entry } from '../support/cli.js';
import { interceptWrites } from '../support/intercept-writes.js';
import { listFiles } from '../support/list-files.js';
import { hostForTest, packRegistryForTest } from '../support/pack-registry.js';
import { filesForTest } from '../support/packs.js';
import { folderForTest } from '../support/service.js';

const others = { 'models/x.safetensors': 'weights', 'settings.json': '{}' };

/** A host with two packs of version 1.0.0, one of which has models and settings besides. */
async function createHost() {
  const registry = await packRegistryForTest([
    { name: 'one', files: { 'old.py': 'a = 1\n' } },
    { name: 'two', files: { 'old.py': 'a = 1\n' } },
  ]);
  const host = hostForTest(registry.anyone);
  expect((await host.change('install', 'one', 'two')).exit).toBe(0);
  filesForTest(others, join(host.customNodes, 'one'));
  return { ...registry, ...host };
}

/** What a folder holds, by path. */
function readContent(folder: string): Record<string, string> {
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  return Object.fromEntries(
    listFiles(folder)
      .sort()
      .map((path) => [path, read(path)]),
  );
}

/** The folders as they are before each write of some work; those are all that a killed process can leave. */
async function collectDeaths(cwd: string, work: () => Promise<unknown>): Promise<string[]> {
  const deaths: string[] = [];
  const end = interceptWrites([cwd], () => {
    const copy = folderForTest();
    cpSync(cwd, copy, { recursive: true });
    deaths.push(copy);
  });
  await work();
  end();
  return deaths;
}

function goBack(cwd: string, death: string): void {
  rmSync(cwd, { recursive: true });
  cpSync(death, cwd, { recursive: true });
}

test('an upgrade that is killed before any of its writes leaves the old or the new pack, and ends when it is run again', async () => {
  const { change, customNodes, cwd, publish } = await createHost();
  const files = { 'new.py': 'b = 2\n', 'web/a.js': '', 'web/b.js': 'b' };
  await publish({ name: 'one', version: '2.0.0', files }, { name: 'two', version: '2.0.0', files });
  const upgrade = () => change('install', 'one', 'two');
  const read = (root: string, name: string) => readContent(join(root, 'custom_nodes', name));
  const before = { one: read(cwd, 'one'), two: read(cwd, 'two') };
  const deaths = await collectDeaths(cwd, async () => expect((await upgrade()).exit).toBe(0));
  const after = { one: read(cwd, 'one'), two: read(cwd, 'two') };
  expect(after.one).toMatchObject({ ...files, ...others });
  expect(Object.keys(after.one)).not.toContain('old.py');
  const lock = readFileSync(join(cwd, 'regen.lock'), 'utf8');
  expect(deaths.length).toBeGreaterThan(20);

  const absent: string[] = [];
  for (const [at, death] of deaths.entries()) {
    for (const name of ['one', 'two'] as const) {
      const found = read(death, name);
      if (existsSync(join(death, 'custom_nodes', name)))
        expect([before[name], after[name]]).toContainEqual(found);
      else absent.push(`${at} ${name}`);
    }
    goBack(cwd, death);
    expect((await upgrade()).exit).toBe(0);
    expect({ at, one: read(cwd, 'one'), two: read(cwd, 'two') }).toEqual({ at, ...after });
    expect(readdirSync(customNodes).sort()).toEqual(['.regen.disabled', 'one', 'two']);
    expect(readdirSync(join(customNodes, '.regen.disabled'))).toEqual(['lock']);
    expect(readFileSync(join(cwd, 'regen.lock'), 'utf8')).toBe(lock);
  }
  // Between two renames of each pack; the next command puts the old one back.
  expect(absent).toHaveLength(2);
});

test('a removal that is killed before any of its writes leaves all of the pack or nothing', async () => {
  const { change, cwd } = await createHost();
  const before = readContent(join(cwd, 'custom_nodes', 'one'));
  const deaths = await collectDeaths(cwd, () => change('remove', 'one'));
  expect(deaths.length).toBeGreaterThan(3);
  for (const death of deaths) {
    const folder = join(death, 'custom_nodes', 'one');
    if (existsSync(folder)) expect(readContent(folder)).toEqual(before);
    goBack(cwd, death);
    await change('remove', 'one');
    expect(existsSync(join(cwd, 'custom_nodes', 'one'))).toBe(false);
    expect(readContent(join(cwd, 'custom_nodes', '.disabled', 'one'))).toEqual(others);
  }
});

test('a checkout that was to be replaced by force is never lost', async () => {
  const { change, cwd, customNodes, publish } = await createHost();
  await publish({ name: 'three' });
  filesForTest({ 'three/.git/HEAD': 'ref', 'three/mine.py': 'mine' }, customNodes);
  const deaths = await collectDeaths(cwd, () => change('install', 'three', '--force'));
  for (const death of deaths) {
    goBack(cwd, death);
    expect((await change('install', 'three', '--force')).exit).toBe(0);
    const kept = listFiles(join(customNodes, '.disabled')).filter((path) => path.endsWith('mine.py'));
    expect(kept.length).toBeGreaterThan(0);
    expect(existsSync(join(customNodes, 'three', '__init__.py'))).toBe(true);
  }
});

test('two installs into the same folder at once both succeed, and the lock file has both', async () => {
  const { change, cwd, customNodes, publish } = await createHost();
  await publish({ name: 'three' }, { name: 'four' });
  const ran = await Promise.all([
    change('install', 'three'),
    change('install', 'four'),
    change('install', 'three'),
  ]);
  expect(ran.map(({ exit }) => exit)).toEqual([0, 0, 0]);
  expect(readdirSync(customNodes).sort()).toEqual(['.regen.disabled', 'four', 'one', 'three', 'two']);
  const lock = readFileSync(join(cwd, 'regen.lock'), 'utf8');
  expect(lock.match(/^id = .*$/gm)).toEqual(['four', 'one', 'three', 'two'].map((id) => `id = "${id}"`));
});

test.skipIf(process.platform === 'win32')('a disk that fills up leaves the old pack', async () => {
  const { anyone, cwd, customNodes, home, publish } = await createHost();
  await publish({ name: 'one', version: '2.0.0', files: { 'large.txt': Buffer.alloc(6_000_000, 'a\n') } });
  const before = readContent(cwd);
  const argv = [process.execPath, entry, 'node', 'install', 'one', '--into', 'custom_nodes'];
  const shell = ['-c', `trap '' XFSZ; ulimit -f 4096; exec "$0" "$@"`, ...argv];
  const env = { PATH: process.env.PATH, HOME: home, ...anyone };
  const stderr = await new Promise<string>((done) => {
    execFile('sh', shell, { cwd, env }, (error, _, said) => done(`${error?.code} ${said}`));
  });
  expect(stderr).toContain('A file would be larger than the system allows');
  expect(readdirSync(join(customNodes, '.regen.disabled'))).toEqual(['lock']);
  expect(readContent(cwd)).toEqual(before);
});
