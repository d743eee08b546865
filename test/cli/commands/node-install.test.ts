import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listFiles } from '../../support/list-files.js';
import { hostForTest, packRegistryForTest } from '../../support/pack-registry.js';
import { filesForTest } from '../../support/packs.js';
import { ask } from '../../support/service.js';

const requirements = {
  'requirements.txt': 'numpy>=1.24\n# a comment\n--index-url https://evil.example\npillow\n',
};

describe('node install', () => {
  test('unpacks packs, records them in a lock file, and lists what they need from pip', async () => {
    const { service, anyone } = await packRegistryForTest([
      { name: 'Light-Tools', version: '1.2.0', files: { ...requirements, 'web/run.sh': '#!/bin/sh\n' } },
      { name: 'mask-tools', files: { 'requirements.txt': 'numpy>=1.24\nscipy\n' } },
    ]);
    const { customNodes, cwd, run } = hostForTest(anyone);
    const argv = ['node', 'install', 'light-tools', 'mask-tools@^1', '--into', 'custom_nodes'];
    const { exit, stdout, stderr } = await run([...argv, '--requirements', 'pip.txt']);
    expect(exit, stderr).toBe(0);
    expect(stdout).toBe(
      'Light-Tools\t1.2.0\tinstalled\t\tLight-Tools\t\nmask-tools\t1.0.0\tinstalled\t\tmask-tools\t\n',
    );
    expect(stderr).toContain('Wrote 3 pip requirements to pip.txt. Next: pip install -r pip.txt');
    expect(stderr).toContain(
      'warning: Light-Tools: requirements.txt asks for --index-url https://evil.example; ignored.',
    );
    expect(readFileSync(join(cwd, 'pip.txt'), 'utf8')).toBe('numpy>=1.24\npillow\nscipy\n');
    expect(listFiles(join(customNodes, 'Light-Tools')).sort()).toEqual([
      ...['.tracking', '__init__.py', 'pyproject.toml', 'requirements.txt', 'web/run.sh'],
    ]);
    expect(
      readFileSync(join(customNodes, 'mask-tools', '.tracking'), 'utf8')
        .split('\n')
        .sort(),
    ).toEqual(['', '__init__.py', 'pyproject.toml', 'requirements.txt']);
    const lock = readFileSync(join(cwd, 'regen.lock'), 'utf8');
    const version = (await ask(`${service.url}/nodes/Light-Tools/versions/1.2.0`)).body;
    expect(lock).toContain(`registry = "${service.url}"`);
    expect(lock).toContain(`id = "Light-Tools"\nversion = "1.2.0"\nsha256 = "${version.archive_sha256}"`);
    const { headers } = await ask(version.downloadUrl, { method: 'HEAD' });
    expect(`sha256=${/tree = "(\w+)"/.exec(lock)?.[1]}`).toBe(headers.get('x-archive-tree'));
    expect(lock).not.toMatch(/signature|token|downloadUrl/i);
    expect(readdirSync(join(customNodes, '.regen.disabled'))).toEqual(['lock']);
    await service.context.installs.write();
    expect((await ask(`${service.url}/nodes/mask-tools`)).body.downloads).toBe(1);
  });

  test('prints no warning of Node when it downloads many packs at the same time', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `pack-${index}`);
    const { anyone } = await packRegistryForTest(names.map((name) => ({ name })));
    const { run } = hostForTest(anyone);
    const warned: string[] = [];
    const collect = ({ name }: Error) => void warned.push(name);
    process.on('warning', collect);
    onTestFinished(() => void process.off('warning', collect));
    const { exit, stderr } = await run(['node', 'install', ...names, '--into', 'custom_nodes']);
    expect(exit, stderr).toBe(0);
    expect(warned).toEqual([]);
  });

  test('chooses the highest version of a range, and keeps what else the folder holds', async () => {
    const { anyone, publish } = await packRegistryForTest([
      { version: '1.0.0', files: { 'old.py': '', 'a/b.py': '' } },
    ]);
    for (const version of ['1.1.0', '1.2.0-rc.1', '2.0.0'])
      await publish({ version, files: { 'new.py': version } });
    const { change, customNodes, run } = hostForTest(anyone);
    await change('install', 'pack@1.0.0');
    const folder = join(customNodes, 'pack');
    filesForTest(
      { 'models/x.safetensors': 'weights', 'settings.json': '{}', '__pycache__/a.pyc': 'x' },
      folder,
    );
    mkdirSync(join(folder, 'empty'));
    symlinkSync('models', join(folder, 'link'));
    const inode = statSync(join(folder, 'models/x.safetensors')).ino;
    const { answer } = await change('install', 'pack@^1');
    expect(answer.packs).toMatchObject([
      { node_id: 'pack', version: '1.1.0', previous: '1.0.0', state: 'updated', verified: true, kept: null },
    ]);
    expect(readlinkSync(join(folder, 'link'))).toBe('models');
    rmSync(join(folder, 'link'));
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual([
      ...['.tracking', '__init__.py', 'empty', 'models', 'models/x.safetensors', 'new.py'],
      ...['pyproject.toml', 'settings.json'],
    ]);
    expect(statSync(join(folder, 'models/x.safetensors')).ino).toBe(inode);
    expect((await change('install', 'pack@^1')).answer.packs).toMatchObject([
      { state: 'unchanged', version: '1.1.0' },
    ]);
    const dry = ['node', 'install', 'pack', '--into', 'custom_nodes', '--dry-run'];
    expect((await run(dry)).stderr).toContain(
      'A new major version may break saved workflows: pack 1.1.0 -> 2.0.0.\nCheck them with: regen workflow check <files> --with pack@2.0.0\n',
    );
    expect((await change('install', 'pack')).answer.packs).toMatchObject([
      { version: '2.0.0', previous: '1.1.0' },
    ]);
    const { stderr: down } = await run(['node', 'install', 'pack@1.0.0', '--into', 'custom_nodes']);
    expect(down).toContain('Downgraded 1 pack in custom_nodes.');
    expect(down).not.toContain('major version');
    const none = await change('install', 'pack@^3');
    expect([none.exit, none.stderr]).toEqual([
      3,
      expect.stringContaining('the newest are 2.0.0, 1.1.0, 1.0.0'),
    ]);
  });

  test('leaves a version in place that the lock file does not have, and pins it', async () => {
    const { anyone, publish } = await packRegistryForTest([{ version: '1.0.0' }]);
    await publish({ version: '1.1.0' });
    const { change, cwd, customNodes, run } = hostForTest(anyone);
    const path = join(cwd, 'regen.lock');
    await change('install', 'pack@1.1.0');
    const other = readFileSync(path, 'utf8');
    await change('install', 'pack@1.0.0');
    const own = readFileSync(path, 'utf8');
    writeFileSync(path, other);
    const { stderr } = await run(['node', 'install', 'pack@1.0.0', '--into', 'custom_nodes']);
    expect(stderr).toContain('Unchanged 1 pack in custom_nodes.');
    expect(readFileSync(path, 'utf8')).toBe(own);
    writeFileSync(path, other);
    writeFileSync(join(customNodes, 'pack', '__init__.py'), 'changed');
    expect((await change('install', 'pack@1.0.0')).answer.packs).toMatchObject([{ state: 'updated' }]);
    expect(readFileSync(join(customNodes, 'pack', '__init__.py'), 'utf8')).not.toBe('changed');
  });

  test('refuses deprecated, flagged and banned versions, and the range passes over them', async () => {
    const { owner, publish, service } = await packRegistryForTest([{ version: '1.0.0' }]);
    await publish({ version: '1.1.0' });
    const versions = `${service.url}/publishers/acme/nodes/pack/versions`;
    const put = (url: string, json: unknown) => ask(url, { method: 'PUT', token: service.ownerToken, json });
    expect(
      (await put(`${versions}/1.1.0`, { deprecated: true, deprecation_message: 'Use 1.0.0' })).status,
    ).toBe(200);
    const { change, customNodes, run } = hostForTest(owner);
    const refused = await change('install', 'pack@1.1.0');
    expect([refused.exit, refused.stderr]).toEqual([
      6,
      expect.stringContaining('pack 1.1.0 is deprecated: Use 1.0.0'),
    ]);
    expect(refused.stderr).toContain('--allow deprecated');
    expect(readdirSync(customNodes)).toEqual(['.regen.disabled']);
    expect((await change('install', 'pack@>=1')).answer.packs).toMatchObject([{ version: '1.0.0' }]);
    const none = await change('install', 'pack@>1.0');
    expect([none.exit, none.stderr]).toEqual([
      3,
      expect.stringContaining(
        'pack has no version in >1.0 that is Active and not deprecated; the newest there is 1.1.0 (deprecated).',
      ),
    ]);
    expect(none.stderr).toContain('or pass --allow deprecated.');
    const told = await change('install', 'pack@>=1.1', '--allow', 'deprecated');
    expect(told.answer.packs).toMatchObject([{ version: '1.1.0' }]);
    const argv = ['node', 'install', 'pack@1.1.0', '--allow', 'deprecated', '--into', 'custom_nodes'];
    expect((await run(argv)).stderr).toContain('warning: pack 1.1.0 is deprecated: Use 1.0.0\n');
    const status = { status: 'NodeVersionStatusBanned', status_reason: 'it mines' };
    expect((await put(`${service.url}/admin/nodes/pack/versions/1.0.0`, status)).status).toBe(200);
    const banned = await change('install', 'pack@1.0.0');
    expect([banned.exit, banned.stderr]).toEqual([
      6,
      expect.stringContaining('pack 1.0.0 is banned: it mines'),
    ]);
    expect((await change('install', 'pack@1.0.0', '--allow', 'banned')).answer.packs).toMatchObject([
      { version: '1.0.0', state: 'updated' },
    ]);
    expect((await change('install', 'pack', '--allow', 'everything')).exit).toBe(2);
  });

  test('names the state of the only version to those who may see it, with and without its number', async () => {
    const { anyone, owner, service } = await packRegistryForTest([{ name: 'hidden' }]);
    const { change } = hostForTest(owner);
    for (const state of ['Flagged', 'Banned']) {
      const json = { status: `NodeVersionStatus${state}`, status_reason: 'it mines' };
      const url = `${service.url}/admin/nodes/hidden/versions/1.0.0`;
      expect((await ask(url, { method: 'PUT', token: service.ownerToken, json })).status).toBe(200);
      const name = state.toLowerCase();
      for (const node of ['hidden', 'hidden@1.0.0']) {
        const refused = await change('install', node);
        expect([refused.exit, refused.stderr]).toEqual([
          6,
          expect.stringContaining(`hidden 1.0.0 is ${name}: it mines`),
        ]);
        expect(refused.stderr).toContain(`pass --allow ${name}.`);
      }
      const [allowed] = (await change('install', 'hidden', '--allow', name)).answer.packs;
      expect(allowed).toMatchObject({ version: '1.0.0' });
      expect((await hostForTest(anyone).change('install', 'hidden', '--allow', name)).exit).toBe(3);
    }
  });

  test('hints that the publisher may see more versions, where others see none', async () => {
    const { anyone, publish, service } = await packRegistryForTest([{ name: 'hidden' }, { name: 'pack' }]);
    await publish({ name: 'pack', version: '1.1.0' });
    const ban = { status: 'NodeVersionStatusBanned', status_reason: 'it mines' };
    for (const path of ['hidden/versions/1.0.0', 'pack/versions/1.1.0'])
      await ask(`${service.url}/admin/nodes/${path}`, {
        method: 'PUT',
        token: service.ownerToken,
        json: ban,
      });
    const { run } = hostForTest(anyone);
    const install = (...argv: string[]) => run(['node', 'install', ...argv, '--into', 'custom_nodes']);
    const hint = 'may be shown only to the publisher and to admins: ask the publisher. List the others';
    for (const [node, message] of [
      ['hidden', 'The node hidden has no version to install.'],
      ['hidden@1.0.0', 'The node hidden has no Active version 1.0.0; it has none.'],
      ['pack@1.1.0', 'The node pack has no Active version 1.1.0; it has 1.0.0.'],
      ['pack@^1.1', 'pack has no version in ^1.1; the newest are 1.0.0.'],
    ] as const) {
      const { exit, stderr } = await install(node, '--allow', 'banned');
      expect([exit, stderr]).toEqual([3, expect.stringContaining(`error: ${message}\nhint: `)]);
      expect(stderr).toContain(hint);
    }
    const unknown = await install('nowhere@1.0.0');
    expect([unknown.exit, unknown.stderr]).toEqual([
      3,
      expect.stringContaining('error: There is no node nowhere.\n'),
    ]);
    expect(unknown.stderr).not.toContain(hint);
    expect((await run(['version', 'download', 'hidden', '1.0.0'])).stderr).toContain(hint);
  });

  test('changes nothing if one of several packs fails, and names all that do', async () => {
    const { anyone } = await packRegistryForTest([{}]);
    const { change, customNodes, cwd } = hostForTest(anyone);
    const { exit, stderr } = await change('install', 'pack', 'unknown-1', 'unknown-2');
    expect(exit).toBe(9);
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) as string);
    expect(error.details.map(({ path }: { path: string }) => path)).toEqual(['unknown-1', 'unknown-2']);
    expect(readdirSync(customNodes)).toEqual(['.regen.disabled']);
    expect(existsSync(join(cwd, 'regen.lock'))).toBe(false);
    // What all have in common is their exit code.
    expect((await change('install', 'unknown-1', 'unknown-2')).exit).toBe(3);
  });

  test('names another lock file in the commands of its hints', async () => {
    const { anyone } = await packRegistryForTest([{}]);
    const { run } = hostForTest(anyone);
    const into = ['--into', 'custom_nodes', '--lock-file', 'team.lock'];
    const absent = await run(['node', 'sync', ...into]);
    expect([absent.exit, absent.stderr]).toEqual([
      2,
      expect.stringMatching(/regen node install .*--lock-file team\.lock <node> --into <folder>/),
    ]);
  });

  test('refuses the folder of the host in place of its custom_nodes, as do the other commands', async () => {
    const { anyone } = await packRegistryForTest([{}]);
    const { cwd, customNodes, run } = hostForTest(anyone);
    for (const argv of [['install', 'pack'], ['remove', 'pack'], ['audit'], ['outdated']]) {
      const { exit, stderr } = await run(['node', ...argv, '--into', '.']);
      expect([exit, stderr]).toEqual([2, expect.stringContaining(`pass ${customNodes}.`)]);
    }
    expect(readdirSync(cwd)).toEqual(['custom_nodes']);
    filesForTest({ 'custom_nodes/__init__.py': '' }, customNodes);
    expect((await run(['node', 'install', 'pack', '--into', 'custom_nodes'])).exit).toBe(0);
  });

  test('prints with --dry-run what would change, downloads nothing, and counts no install', async () => {
    const { anyone, service } = await packRegistryForTest([{}]);
    const { change, customNodes, cwd, run } = hostForTest(anyone);
    const { answer } = await change('install', 'pack', '--dry-run');
    expect(answer.packs).toMatchObject([{ node_id: 'pack', version: '1.0.0', state: 'installed' }]);
    const { stderr } = await run(['node', 'install', 'pack', '--into', 'custom_nodes', '--dry-run']);
    expect(stderr).toContain('Nothing was changed.');
    expect([...readdirSync(customNodes), ...readdirSync(cwd)]).toEqual(['custom_nodes']);
    await service.context.installs.write();
    expect((await ask(`${service.url}/nodes/pack`)).body.downloads).toBe(0);
  });

  test('leaves a git checkout, a link, changed files and files in the way alone, unless forced', async () => {
    const { anyone, publish } = await packRegistryForTest([
      { name: 'one' },
      { name: 'two' },
      { name: 'three' },
      { name: 'four' },
    ]);
    const { change, customNodes, cwd } = hostForTest(anyone);
    filesForTest({ 'One/.git/HEAD': 'ref', 'One/mine.py': 'mine' }, customNodes);
    symlinkSync(filesForTest({ 'mine.py': 'linked' }), join(customNodes, 'two'));
    expect((await change('install', 'three', 'four')).exit).toBe(0);
    writeFileSync(join(customNodes, 'three', '__init__.py'), 'patched = 1\n');
    writeFileSync(join(customNodes, 'four', 'new.py'), 'mine');
    await publish(
      { name: 'three', version: '1.1.0' },
      { name: 'four', version: '1.1.0', files: { 'new.py': 'x' } },
    );
    const before = listFiles(cwd).sort();
    for (const [id, message] of [
      ['one', 'The folder One did not come from a registry'],
      ['two', 'The folder two did not come from a registry'],
      ['three', 'Files of three 1.0.0 in the folder three were changed'],
      ['four', 'The folder four holds files that four 1.1.0 brings as well'],
    ] as const) {
      const { exit, stderr } = await change('install', id);
      expect([exit, stderr]).toEqual([5, expect.stringContaining(message)]);
      expect(listFiles(cwd).sort()).toEqual(before);
    }
    const all = await change('install', 'one', 'two', 'three', 'four');
    expect([all.exit, all.stderr]).toEqual([9, expect.stringContaining('With --force, folders that were')]);
    const forced = await change('install', 'one', 'two', 'three', 'four', '--force');
    expect(forced.answer.packs.map(({ folder }: { folder: string }) => folder)).toEqual([
      'One',
      'two',
      'three',
      'four',
    ]);
    const kept = join(customNodes, '.disabled');
    expect(readFileSync(join(kept, 'One', 'mine.py'), 'utf8')).toBe('mine');
    expect(readFileSync(join(kept, 'two', 'mine.py'), 'utf8')).toBe('linked');
    expect(readFileSync(join(kept, 'three', '__init__.py'), 'utf8')).toBe('patched = 1\n');
    expect(readFileSync(join(kept, 'four', 'new.py'), 'utf8')).toBe('mine');
    expect(readFileSync(join(customNodes, 'four', 'new.py'), 'utf8')).toBe('x');
    expect(listFiles(join(customNodes, 'One')).sort()).toEqual([
      '.tracking',
      '__init__.py',
      'pyproject.toml',
    ]);
  });

  test.each([
    [['install', 'pack', '--into', 'nowhere'], 'does not exist'],
    [['install', 'pack'], '--into is required'],
    [['install', '../pack', '--into', '.'], 'must be written as node or node@range'],
    [['install', '__proto__@1', '--into', '.'], 'must be written as node or node@range'],
    [['install', 'pack@one', '--into', '.'], 'neither a version nor a range'],
    [['install', 'pack', 'PACK@1.0.0', '--into', '.'], 'PACK@1.0.0 is given twice'],
    [['sync', '--into', '.'], 'There is no lock file'],
  ])('refuses %j', async (argv, message) => {
    const { run } = hostForTest({ REGEN_BASE_URL: 'http://127.0.0.1:1' });
    const { exit, stderr } = await run(['node', ...argv]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message.replace('@1.0.0', ''))]);
  });
});

describe('node sync', () => {
  test('makes a folder what the lock file says: installs, changes versions, repairs and prunes', async () => {
    const { anyone, publish } = await packRegistryForTest([
      { name: 'one' },
      { name: 'two' },
      { name: 'extra' },
    ]);
    await publish({ name: 'two', version: '2.0.0' });
    const source = hostForTest(anyone);
    await source.change('install', 'one', 'two@1.0.0');
    const lock = readFileSync(join(source.cwd, 'regen.lock'), 'utf8');
    const { change, cwd, customNodes } = hostForTest(anyone);
    await change('install', 'two', 'extra');
    filesForTest({ 'mine/__init__.py': '' }, customNodes);
    writeFileSync(join(cwd, 'regen.lock'), lock);
    const { answer } = await change('sync', '--locked');
    expect(answer.packs).toMatchObject([
      { node_id: 'one', state: 'installed' },
      { node_id: 'two', state: 'updated', previous: '2.0.0', version: '1.0.0' },
    ]);
    expect(readFileSync(join(cwd, 'regen.lock'), 'utf8')).toBe(lock);
    expect(readdirSync(customNodes).sort()).toEqual(['.regen.disabled', 'extra', 'mine', 'one', 'two']);
    expect((await change('sync', '--locked')).answer.packs).toMatchObject([
      { state: 'unchanged' },
      { state: 'unchanged' },
    ]);
    rmSync(join(customNodes, 'one', '__init__.py'));
    expect((await change('sync')).exit).toBe(5);
    const repaired = await change('sync', '--prune', '--force');
    expect(repaired.answer.packs).toMatchObject([
      { node_id: 'one', state: 'updated' },
      { node_id: 'two', state: 'unchanged' },
      { node_id: 'extra', state: 'removed' },
    ]);
    expect(existsSync(join(customNodes, 'one', '__init__.py'))).toBe(true);
    expect(readdirSync(customNodes).sort()).toEqual(['.disabled', '.regen.disabled', 'mine', 'one', 'two']);
  });

  test('warns of packs in place that the registry has banned, deprecated or withdrawn, and goes on offline', async () => {
    const names = ['one', 'two', 'three'];
    const { anyone, owner, service } = await packRegistryForTest(names.map((name) => ({ name })));
    const { change, customNodes, run } = hostForTest(owner);
    await change('install', ...names);
    const put = (path: string, json: unknown) =>
      ask(`${service.url}${path}`, { method: 'PUT', token: service.ownerToken, json });
    const ban = { status: 'NodeVersionStatusBanned', status_reason: 'it mines' };
    expect((await put('/admin/nodes/one/versions/1.0.0', ban)).status).toBe(200);
    const deprecation = { deprecated: true, deprecation_message: 'Use four' };
    expect((await put('/publishers/acme/nodes/two/versions/1.0.0', deprecation)).status).toBe(200);
    const sync = ['node', 'sync', '--locked', '--into', 'custom_nodes'];
    const seen = await run(sync);
    expect(seen.exit).toBe(0);
    expect(seen.stderr.match(/^warning: .*/gm)).toEqual([
      'warning: one 1.0.0 is banned: it mines',
      'warning: two 1.0.0 is deprecated: Use four',
    ]);
    const stranger = await run(sync, { ...anyone, REGEN_TOKEN: '' });
    expect(stranger.stderr).toContain('warning: one 1.0.0 is withdrawn: the registry does not offer');
    rmSync(join(customNodes, 'one'), { recursive: true });
    const missing = await run(sync, { ...anyone, REGEN_TOKEN: '' });
    expect([missing.exit, missing.stderr]).toEqual([
      3,
      expect.stringMatching(
        /error: one 1\.0\.0 is withdrawn: the registry does not offer .*\.\nhint: Lock another/,
      ),
    ]);
    expect(missing.stderr).toContain('`regen node install one --into <folder>`');
    expect((await change('install', 'one@1.0.0', '--allow', 'banned')).exit).toBe(0);
    await service.stop();
    const offline = await run(sync);
    expect([offline.exit, offline.stderr]).toEqual([
      0,
      expect.stringContaining(
        'warning: The registry did not say which of the packs are deprecated or banned',
      ),
    ]);
  });

  test('adds missing digests to the lock file, which --locked refuses to do', async () => {
    const { anyone, service } = await packRegistryForTest([{}]);
    const { change, cwd } = hostForTest(anyone);
    const open = `format = 1\nregistry = "${service.url}"\nnaming = "regen"\n\n[[node]]\nid = "pack"\nversion = "1.0.0"\n`;
    writeFileSync(join(cwd, 'regen.lock'), open);
    const refused = await change('sync', '--locked');
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining('it has no digest of pack yet'),
    ]);
    expect(readFileSync(join(cwd, 'regen.lock'), 'utf8')).toBe(open);
    expect((await change('sync')).exit).toBe(0);
    expect(readFileSync(join(cwd, 'regen.lock'), 'utf8')).toMatch(/sha256 = "\w{64}"\ntree = "\w{64}"/);
    expect((await change('sync', '--locked')).exit).toBe(0);
  });

  test('refuses a lock file of another registry unless a flag accepts it, and then other files', async () => {
    const { anyone, service } = await packRegistryForTest([{}]);
    const mirror = await packRegistryForTest([{}]);
    const { change, cwd } = hostForTest(anyone);
    expect((await change('install', 'pack')).exit).toBe(0);
    const lock = readFileSync(join(cwd, 'regen.lock'), 'utf8');
    const other = hostForTest(mirror.anyone);
    writeFileSync(join(other.cwd, 'regen.lock'), lock);
    for (const argv of [['sync'], ['install', 'pack']]) {
      const refused = await other.change(...(argv as ['sync']));
      expect([refused.exit, refused.stderr]).toEqual([
        2,
        expect.stringContaining(`belongs to the registry ${service.url}`),
      ]);
    }
    expect((await other.change('sync', '--locked', '--other-registry')).exit).toBe(0);
    expect(readFileSync(join(other.cwd, 'regen.lock'), 'utf8')).toBe(lock);
    rmSync(join(other.customNodes, 'pack'), { recursive: true });
    writeFileSync(join(other.cwd, 'regen.lock'), lock.replace(/sha256 = "\w{4}/, 'sha256 = "0000'));
    const changed = await other.change('sync', '--other-registry');
    expect([changed.exit, changed.stderr]).toEqual([
      6,
      expect.stringContaining('another archive of pack 1.0.0'),
    ]);
    expect(existsSync(join(other.customNodes, 'pack'))).toBe(false);
  });
});

describe('node remove', () => {
  test('removes the files of packs, keeps models and settings among the disabled packs, and changes the lock file', async () => {
    const { anyone } = await packRegistryForTest([{ name: 'one' }, { name: 'two' }, { name: 'three' }]);
    const { change, customNodes, cwd } = hostForTest(anyone);
    await change('install', 'one', 'two', 'three');
    filesForTest({ 'models/x.pt': 'weights' }, join(customNodes, 'one'));
    const dry = await change('remove', 'one', '--dry-run');
    expect(dry.answer.packs).toMatchObject([{ node_id: 'one', state: 'removed' }]);
    expect((await change('remove', 'one', 'unknown')).exit).toBe(3);
    expect(readdirSync(customNodes).sort()).toEqual(['.regen.disabled', 'one', 'three', 'two']);
    const { answer } = await change('remove', 'ONE', 'two');
    expect(answer.packs).toMatchObject([{ kept: join(customNodes, '.disabled', 'one') }, { kept: null }]);
    expect(readdirSync(customNodes).sort()).toEqual(['.disabled', '.regen.disabled', 'three']);
    expect(listFiles(join(customNodes, '.disabled'))).toEqual(['one/models/x.pt']);
    const lock = readFileSync(join(cwd, 'regen.lock'), 'utf8');
    expect(lock.match(/^id = .*$/gm)).toEqual(['id = "three"']);
  });
});
