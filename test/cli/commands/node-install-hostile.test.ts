import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRawZip, type RawEntry } from '../../pack/raw-zip.js';
import { comfyRegistryForTest } from '../../support/comfy-registry.js';
import { listFiles } from '../../support/list-files.js';
import { hostForTest, packRegistryForTest } from '../../support/pack-registry.js';

const code = { name: '__init__.py', content: 'NODE_CLASS_MAPPINGS = {}\n' };
const manifest = { name: 'pyproject.toml', content: '[project]\nname = "pack"\nversion = "1.0"\n' };

/** A registry with the names of ComfyUI and without digests, whose pack has an archive of these entries. */
async function comfyHostForTest(entries: readonly RawEntry[], fields: object = {}) {
  const registry = await comfyRegistryForTest();
  const version = {
    ...{ id: 'v1', node_id: 'pack', version: '1.0.0', status: 'NodeVersionStatusActive' },
    ...{ createdAt: '2026-01-01T00:00:00Z', ...fields },
  };
  registry.nodes.set('pack', { id: 'pack', name: 'Pack', publisher: { id: 'acme' } });
  registry.versions.push(version);
  registry.addArchive('v1', createRawZip(entries));
  const host = hostForTest({ REGEN_PROFILE: 'public' });
  for (const [key, value] of [
    ['base_url', registry.url],
    ['naming', 'comfy'],
  ])
    expect((await host.run(['config', 'set', `profiles.public.${key}`, value as string])).exit).toBe(0);
  return { registry, ...host };
}

describe('an archive of a hostile registry', () => {
  test.each<[string, readonly RawEntry[], string]>([
    ['a path out of its folder', [{ ...code, name: '../../evil.py' }], 'leads out of the folder'],
    ['an absolute path', [{ ...code, name: '/tmp/evil.py' }], 'has an absolute path'],
    ['a backslash', [{ ...code, name: '..\\evil.py' }], 'has a backslash'],
    ['a symbolic link', [{ name: 'link', content: '/etc', mode: 0o120777 }], 'is a symbolic link'],
    [
      'a link and a file below it',
      [
        { name: 'a', content: '/etc', mode: 0o120777 },
        { ...code, name: 'a/b' },
      ],
      'link',
    ],
    ['a device', [{ name: 'tty', content: '', mode: 0o020666 }], 'is a device'],
    ['a file twice', [code, { ...code, content: 'other' }], 'has the name of another entry'],
    ['names that differ in case', [code, { ...code, name: '__INIT__.py' }], 'differs only in case'],
    [
      'names that differ in Unicode',
      [
        { ...code, name: 'n\u00e9.py', flags: 0x800 },
        { ...code, name: 'ne\u0301.py', flags: 0x800 },
      ],
      'differs only in case',
    ],
    [
      'a file as a folder',
      [
        { ...code, name: 'a' },
        { ...code, name: 'a/b' },
      ],
      'has the name of another entry',
    ],
    ['a bomb', [{ name: 'zeros', content: Buffer.alloc(40 * 1024 ** 2) }], 'zip bomb'],
    ['a wrong size', [{ ...code, size: 3 }], 'unpacks to more bytes'],
    ['a wrong checksum', [{ ...code, crc: 1 }], 'checksum does not match'],
    [
      'a git repository',
      [code, { name: '.git/config', content: '[core]\nfsmonitor = evil\n' }],
      'git repository',
    ],
    ['nothing', [], 'has no files'],
  ])('with %s is refused, and nothing is left', async (_, entries, reason) => {
    const { change, customNodes, cwd } = await comfyHostForTest(entries);
    const { exit, stderr } = await change('install', 'pack');
    expect([exit, stderr]).toEqual([6, expect.stringContaining(reason)]);
    expect(listFiles(cwd)).toEqual(['custom_nodes/.regen.disabled/lock']);
    expect(readdirSync(join(customNodes, '..')).sort()).toEqual(['custom_nodes']);
  });

  test('with a list of installed files of its own gets a new one, and is in place at the next sync', async () => {
    const { change, customNodes, run } = await comfyHostForTest([
      ...[code, manifest, { name: '.tracking', content: '../../etc/passwd\n' }],
    ]);
    expect((await change('install', 'pack')).exit).toBe(0);
    expect(readFileSync(join(customNodes, 'pack', '.tracking'), 'utf8')).toBe(
      '__init__.py\npyproject.toml\n',
    );
    expect((await change('sync')).answer.packs).toMatchObject([{ state: 'unchanged' }]);
    expect((await run(['node', 'audit', 'custom_nodes'])).exit).toBe(0);
  });
});

describe('a registry with the names of ComfyUI', () => {
  test('is installed from, audited and synced; that it has no digests is noted, and the lock file has them', async () => {
    const { change, customNodes, cwd, registry, run } = await comfyHostForTest([code, manifest]);
    const { answer } = await change('install', 'pack@^1.0');
    expect(answer.packs).toMatchObject([{ node_id: 'pack', state: 'installed', verified: false }]);
    const lock = readFileSync(join(cwd, 'regen.lock'), 'utf8');
    expect(lock).toContain(`registry = "${registry.url}"\nnaming = "comfy"`);
    expect(lock).toMatch(/sha256 = "\w{64}"\ntree = "\w{64}"/);
    expect((await run(['node', 'audit', 'custom_nodes'])).exit).toBe(0);
    expect((await change('sync', '--locked')).answer.packs).toMatchObject([{ state: 'unchanged' }]);
    expect((await change('remove', 'pack')).exit).toBe(0);
    expect(existsSync(join(customNodes, 'pack'))).toBe(false);
    const { stderr } = await run(['node', 'install', 'pack', '--into', 'custom_nodes']);
    expect(stderr).toContain('public publishes no digests, so 1 archive could not be verified.');
  });

  test('cannot replace an archive that the lock file pins', async () => {
    const { change, customNodes, cwd, registry } = await comfyHostForTest([code, manifest]);
    await change('install', 'pack');
    const lock = readFileSync(join(cwd, 'regen.lock'), 'utf8');
    registry.replaceArchives(createRawZip([{ ...code, content: 'import evil\n' }, manifest]));
    expect((await change('sync', '--locked')).answer.packs).toMatchObject([{ state: 'unchanged' }]);
    await change('remove', 'pack');
    writeFileSync(join(cwd, 'regen.lock'), lock);
    const { exit, stderr } = await change('sync');
    expect([exit, stderr]).toEqual([
      6,
      expect.stringContaining('another archive of pack 1.0.0 than the lock file pins'),
    ]);
    expect(existsSync(join(customNodes, 'pack'))).toBe(false);
  });

  test('does not get a flagged version installed that it offers', async () => {
    const flagged = { status: 'NodeVersionStatusFlagged', status_reason: 'it mines' };
    const { change } = await comfyHostForTest([code], flagged);
    const refused = await change('install', 'pack');
    expect([refused.exit, refused.stderr]).toEqual([
      6,
      expect.stringContaining('pack 1.0.0 is flagged: it mines'),
    ]);
    expect((await change('install', 'pack', '--allow', 'flagged')).exit).toBe(0);
  });
});

test('packs of the registry behind one are installed and audited through it', async () => {
  const far = await packRegistryForTest([{ name: 'remote' }]);
  const near = await packRegistryForTest([{ name: 'own' }], { uplink: { url: far.service.url } });
  const { change, run } = hostForTest(near.anyone);
  const { answer } = await change('install', 'remote', 'own');
  expect(answer.packs).toMatchObject([{ node_id: 'remote' }, { node_id: 'own' }]);
  await far.service.stop();
  const audit = await run(['node', 'audit', 'custom_nodes', '--json']);
  expect([audit.exit, audit.stdout]).toEqual([0, '[]\n']);
});

test('the folder of a lock file decides over the profile, and never gets the token of another service', async () => {
  const { service } = await packRegistryForTest([{}]);
  const { change, cwd, run } = hostForTest({});
  await run(['config', 'set', 'profiles.team.base_url', service.url]);
  writeFileSync(join(cwd, 'pyproject.toml'), '[tool.regen]\nprofile = "team"\n');
  expect((await change('install', 'pack')).exit).toBe(0);
  const withToken = await run(['node', 'sync', '--into', 'custom_nodes'], { REGEN_TOKEN: 'secret' });
  expect([withToken.exit, withToken.stderr]).toEqual([
    2,
    expect.stringContaining('REGEN_TOKEN is set, but only'),
  ]);
});

describe('a folder of custom nodes', () => {
  test('that several users share has a lock that they share', async () => {
    const { anyone } = await packRegistryForTest([{}]);
    const { change, customNodes } = hostForTest(anyone);
    const readModes = () =>
      ['.regen.disabled', '.regen.disabled/lock'].map(
        (path) => lstatSync(join(customNodes, path)).mode & 0o777,
      );
    chmodSync(customNodes, 0o2775);
    expect((await change('install', 'pack')).exit).toBe(0);
    expect(readModes()).toEqual([0o775, 0o664]);
    rmSync(join(customNodes, '.regen.disabled'), { recursive: true });
    chmodSync(customNodes, 0o700);
    expect((await change('remove', 'pack')).exit).toBe(0);
    expect(readModes()).toEqual([0o700, 0o600]);
  });

  test('in which the place for new packs is a link is refused, and what the link leads to stays', async () => {
    const { anyone } = await packRegistryForTest([{}]);
    const { change, customNodes, cwd } = hostForTest(anyone);
    mkdirSync(join(cwd, 'other', 'archives'), { recursive: true });
    writeFileSync(join(cwd, 'other', 'archives', 'mine'), '');
    symlinkSync(join(cwd, 'other'), join(customNodes, '.regen.disabled'));
    const { exit, stderr } = await change('install', 'pack');
    expect([exit, stderr]).toEqual([5, expect.stringContaining('.regen.disabled is a link')]);
    expect(listFiles(join(cwd, 'other'))).toEqual(['archives/mine']);
  });

  test('keeps a file with the name of the pack, and gets no pack that the host would not load', async () => {
    const { anyone } = await packRegistryForTest([{}, { name: 'pack.disabled' }]);
    const { change, customNodes } = hostForTest(anyone);
    writeFileSync(join(customNodes, 'pack'), 'mine');
    for (const name of ['pack', 'pack.disabled']) {
      const { exit, stderr } = await change('install', name);
      expect([exit, stderr]).toEqual([5, expect.stringContaining(`does not load a pack from ${name}`)]);
    }
    expect(readFileSync(join(customNodes, 'pack'), 'utf8')).toBe('mine');
  });

  test('may be a link, and packs in it may have links to models', async () => {
    const { anyone, publish } = await packRegistryForTest([{}]);
    const { change, customNodes, cwd, run } = hostForTest(anyone);
    symlinkSync('custom_nodes', join(cwd, 'linked'));
    const linked = await run(['node', 'install', 'pack', '--into', 'linked']);
    expect(linked.exit, linked.stderr).toBe(0);
    symlinkSync('../../models', join(customNodes, 'pack', 'models'));
    await publish({ version: '1.1.0' });
    expect((await change('install', 'pack')).answer.packs).toMatchObject([{ state: 'updated' }]);
    expect(readlinkSync(join(customNodes, 'pack', 'models'))).toBe('../../models');
  });

  test('in which a file of a pack became a link is not upgraded unasked, and the audit names the file', async () => {
    const { anyone, publish } = await packRegistryForTest([{}]);
    const { change, customNodes, cwd, run } = hostForTest(anyone);
    await change('install', 'pack');
    const code = join(customNodes, 'pack', '__init__.py');
    writeFileSync(join(cwd, 'same.py'), readFileSync(code));
    rmSync(code);
    symlinkSync(join(cwd, 'same.py'), code);
    await publish({ version: '1.1.0' });
    expect((await change('install', 'pack')).exit).toBe(5);
    const { stdout } = await run(['node', 'audit', 'custom_nodes', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ finding: 'missing', file: '__init__.py' }]);
  });
});
