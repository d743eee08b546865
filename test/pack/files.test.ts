import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { chooseFiles } from '../../src/pack/files.js';
import {
  type Content,
  createCheckout,
  createEmptyFolder,
  createFolder,
  runGit,
  writeFiles,
} from './folders.js';

const listPaths = async (folder: string, includes?: readonly string[]) =>
  (await chooseFiles(folder, includes)).files.map((file) => file.path);

const listProblems = async (folder: string, includes?: readonly string[]) =>
  Object.fromEntries(
    (await chooseFiles(folder, includes)).problems.map(({ where, message }) => [where, message]),
  );

describe('in a git checkout', () => {
  it('chooses what git tracks and nothing else, sorted', async () => {
    const folder = await createCheckout({
      'pyproject.toml': '',
      'nodes.py': 'x',
      'web/a.js': '',
      '.gitignore': 'junk',
    });
    await writeFiles(folder, { 'untracked.py': 'not added', junk: 'ignored' });
    const chosen = await chooseFiles(folder);
    expect(chosen.source).toBe('git');
    expect(chosen.problems).toEqual([]);
    expect(chosen.files).toEqual([
      { path: '.gitignore', absolute: join(folder, '.gitignore'), size: 4, mode: '100644' },
      { path: 'nodes.py', absolute: join(folder, 'nodes.py'), size: 1, mode: '100644' },
      { path: 'pyproject.toml', absolute: join(folder, 'pyproject.toml'), size: 0, mode: '100644' },
      { path: 'web/a.js', absolute: join(folder, 'web/a.js'), size: 0, mode: '100644' },
    ]);
  });

  it('chooses the files of a subfolder when the pack lies in one', async () => {
    const folder = await createCheckout({
      'README.md': '',
      'packs/one/nodes.py': '',
      'packs/two/nodes.py': '',
    });
    expect(await listPaths(join(folder, 'packs/one'))).toEqual(['nodes.py']);
  });

  it('chooses the files of submodules too', async () => {
    const library = await createCheckout({ 'lib.py': 'library' });
    const folder = await createCheckout({ 'nodes.py': '' });
    runGit(folder, 'submodule', 'add', '-q', library, 'vendor/lib');
    expect(await listPaths(folder)).toEqual(['.gitmodules', 'nodes.py', 'vendor/lib/lib.py']);
  });

  it('names a submodule that is not checked out, and how to fix it', async () => {
    const library = await createCheckout({ 'lib.py': 'library' });
    const folder = await createCheckout({ 'nodes.py': '' });
    runGit(folder, 'submodule', 'add', '-q', library, 'vendor/lib');
    runGit(folder, 'submodule', 'deinit', '-q', '-f', 'vendor/lib');
    expect(await listProblems(folder)).toEqual({
      'vendor/lib': expect.stringContaining('git submodule update --init'),
    });
  });

  it('leaves out a tracked file that was deleted', async () => {
    const folder = await createCheckout({ 'nodes.py': '', 'old.py': '', 'gone/a.py': '' });
    await rm(join(folder, 'old.py'));
    await rm(join(folder, 'gone'), { recursive: true });
    expect(await chooseFiles(folder)).toMatchObject({ files: [{ path: 'nodes.py' }], problems: [] });
  });

  it('refuses a pyproject.toml that git does not track, because the archive would lack it', async () => {
    const folder = await createCheckout({ 'nodes.py': '' });
    await writeFiles(folder, { 'pyproject.toml': '' });
    expect(await listProblems(folder)).toEqual({
      'pyproject.toml': expect.stringContaining('add it to git'),
    });
  });

  it('treats a pack that the checkout around it ignores as outside git', async () => {
    const host = await createCheckout({ 'main.py': '', '.gitignore': 'custom_nodes/\n' });
    await writeFiles(host, { 'custom_nodes/mine/nodes.py': '', 'custom_nodes/mine/pyproject.toml': '' });
    const chosen = await chooseFiles(join(host, 'custom_nodes/mine'));
    expect(chosen.source).toBe('folder');
    expect(chosen.files.map((file) => file.path)).toEqual(['nodes.py', 'pyproject.toml']);
  });

  it('fails with a message if the checkout cannot be read, instead of packing untracked files', async () => {
    const folder = await createCheckout({ 'nodes.py': '' });
    await writeFiles(folder, { '.git/index': 'broken', 'private.txt': '' });
    await expect(chooseFiles(folder)).rejects.toThrow(/^git's index in .* cannot be read: it is damaged/);
  });
});

describe('with variables that name another checkout', () => {
  afterEach(() => {
    delete process.env.GIT_DIR;
  });

  it('chooses what git tracks in the folder of the pack', async () => {
    const other = await createCheckout({ 'other.py': '' });
    const folder = await createCheckout({ 'nodes.py': '' });
    process.env.GIT_DIR = join(other, '.git');
    expect(await listPaths(folder)).toEqual(['nodes.py']);
  });
});

describe('where git is not installed', () => {
  const path = process.env.PATH;
  afterEach(() => {
    process.env.PATH = path;
  });

  it('chooses the same files', async () => {
    const folder = await createCheckout({ 'nodes.py': '', '.gitignore': 'junk\n' });
    await writeFiles(folder, { junk: '', 'untracked.py': '' });
    process.env.PATH = await createEmptyFolder();
    expect(await chooseFiles(folder)).toMatchObject({
      source: 'git',
      files: [{ path: '.gitignore' }, { path: 'nodes.py' }],
      untracked: ['untracked.py'],
    });
  });
});

describe('files with holes', () => {
  it('are refused without reading them if they hold nearly nothing else', async () => {
    const folder = await createFolder({ 'pyproject.toml': '', 'nodes.py': 'x = 1\n' });
    for (const name of ['one.safetensors', 'two.bin']) {
      await writeFile(join(folder, name), '');
      await truncate(join(folder, name), 2 * 2 ** 30);
    }
    const { problems } = await chooseFiles(folder);
    expect(problems).toEqual([
      {
        where: 'The pack',
        message: expect.stringMatching(/^has 4294967302 bytes that take only \d+ on disk/),
      },
    ]);
  });

  it('are packed if they are short', async () => {
    const folder = await createFolder({ 'pyproject.toml': '', 'nodes.py': 'x = 1\n', 'zeros.bin': '' });
    await truncate(join(folder, 'zeros.bin'), 2 ** 20);
    expect((await chooseFiles(folder)).problems).toEqual([]);
  });
});

describe('outside git', () => {
  it('chooses everything except generated files', async () => {
    const folder = await createFolder({
      'nodes.py': '',
      '.github/workflows/publish.yml': '',
      'web/js/a.js': '',
      'node_modules/x/index.js': '',
      'web/node_modules/x/index.js': '',
      '__pycache__/nodes.pyc': '',
      'sub/__pycache__/nodes.pyc': '',
      '.venv/bin/python': '',
      'venv/bin/python': '',
    });
    expect(await listPaths(folder)).toEqual(['.github/workflows/publish.yml', 'nodes.py', 'web/js/a.js']);
  });

  it('honours .gitignore files, nested ones too, the innermost first', async () => {
    const folder = await createFolder({
      '.gitignore': '*.log\n/dist/\nmodels/*\n!models/keep.txt\n',
      'a.log': '',
      'A.LOG': '',
      'dist/a.js': '',
      'web/dist/a.js': '',
      'models/big.bin': '',
      'models/keep.txt': '',
      'sub/.gitignore': '!wanted.log\nsecret.txt\n',
      'sub/wanted.log': '',
      'sub/other.log': '',
      'sub/secret.txt': '',
      'sub/deep/secret.txt': '',
      'secret.txt': '',
    });
    expect(await listPaths(folder)).toEqual([
      '.gitignore',
      'A.LOG',
      'models/keep.txt',
      'secret.txt',
      'sub/.gitignore',
      'sub/wanted.log',
      'web/dist/a.js',
    ]);
  });
});

describe('ignore files of the pack', () => {
  const pack = { 'nodes.py': '', 'tests/a.py': '', 'docs/large.png': '', 'docs/small.md': '' };

  it.each(['.gitignore', '.regenignore'])('stop the choice if %s cannot be read', async (name) => {
    const folder = await createFolder({ 'nodes.py': '', 'secret.txt': '' });
    // A link to a name that is too long for any file.
    await symlink('x'.repeat(300), join(folder, name));
    await expect(chooseFiles(folder)).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  });

  it.each(['.regenignore', '.comfyignore'])('leave out what %s names, tracked or not', async (name) => {
    const files = { ...pack, [name]: '# not needed to run\r\ntests/\r\n*.png\r\n' };
    const expected = [name, 'docs/small.md', 'nodes.py'];
    expect(await listPaths(await createCheckout(files))).toEqual(expected);
    expect(await listPaths(await createFolder(files))).toEqual(expected);
  });
});

describe('includes', () => {
  it('bring back what is ignored: files, folders and patterns, from the root', async () => {
    const folder = await createCheckout({
      'nodes.py': '',
      '.gitignore': 'dist/\n*.bin\n',
      '.regenignore': 'notes.md',
    });
    await writeFiles(folder, {
      'dist/a.js': '',
      'web/dist/b.js': '',
      'data/x.bin': '',
      'data/y.bin': '',
      'notes.md': '',
    });
    const always = ['.gitignore', '.regenignore', 'nodes.py'];
    expect(await listPaths(folder, ['/dist'])).toEqual([
      '.gitignore',
      '.regenignore',
      'dist/a.js',
      'nodes.py',
    ]);
    expect(await listPaths(folder, ['./dist/'])).toEqual(await listPaths(folder, ['dist']));
    expect(await listPaths(folder, ['web/dist'])).toEqual([...always, 'web/dist/b.js']);
    expect(await listPaths(folder, ['data/*.bin', 'notes.md'])).toEqual([
      '.gitignore',
      '.regenignore',
      'data/x.bin',
      'data/y.bin',
      'nodes.py',
      'notes.md',
    ]);
  });

  it('are refused if nothing matches, and never lead out of the pack or into .git', async () => {
    const folder = await createCheckout({ 'pack/nodes.py': '', 'outside.txt': '' });
    const found = await listProblems(join(folder, 'pack'), ['dist', '../outside.txt', '.git/config']);
    expect(Object.keys(found)).toEqual(['dist', '../outside.txt', '.git/config']);
    expect(await listProblems(folder, ['.git/config'])).toHaveProperty(['.git/config']);
  });
});

describe('links', () => {
  const make = (files: Record<string, Content>) => Promise.all([createFolder(files), createCheckout(files)]);

  it('to a file inside the pack are packed as that file', async () => {
    for (const folder of await make({ 'nodes.py': 'hello', 'web/copy.py': { link: '../nodes.py' } })) {
      expect((await chooseFiles(folder)).files).toContainEqual({
        path: 'web/copy.py',
        absolute: join(folder, 'nodes.py'),
        size: 5,
        mode: '100644',
      });
    }
  });

  it('that lead out of the pack, nowhere or to a folder are reported with a message', async () => {
    const outside = await createFolder({ 'secret.txt': 'secret' });
    const files = {
      'web/a.js': '',
      absolute: { link: join(outside, 'secret.txt') },
      climbing: { link: '../../../../../../../../etc/hostname' },
      nowhere: { link: 'gone.py' },
      round: { link: 'round' },
      folder: { link: 'web' },
    };
    for (const folder of await make(files)) {
      expect(await listProblems(folder)).toEqual({
        absolute: expect.stringContaining('outside the pack'),
        climbing: expect.stringMatching(/outside the pack|broken link/),
        nowhere: expect.stringContaining('broken link'),
        round: expect.stringContaining('broken link'),
        folder: expect.stringContaining('link to a folder'),
      });
      expect(await listPaths(folder)).toEqual(['web/a.js']);
    }
  });

  it('in place of a tracked folder lead nothing in', async () => {
    const outside = await createFolder({ 'a.py': 'secret' });
    const folder = await createCheckout({ 'nodes.py': '', 'lib/a.py': '' });
    await rm(join(folder, 'lib'), { recursive: true });
    await writeFiles(folder, { lib: { link: outside } });
    expect(await chooseFiles(folder)).toMatchObject({
      files: [{ path: 'nodes.py' }],
      problems: [{ where: 'lib/a.py' }],
    });
  });

  it('that lead into .git are reported as problems', async () => {
    const folder = await createCheckout({ 'nodes.py': '', config: { link: '.git/config' } });
    expect(await listProblems(folder)).toHaveProperty('config');
  });
});

describe.runIf(process.platform !== 'win32')('an entry that is neither a file nor a folder', () => {
  it('is reported with a message', async () => {
    const folder = await createFolder({ 'nodes.py': '' });
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
    });
    expect(await listProblems(folder)).toEqual({ socket: 'is not a regular file' });
  });
});

describe('names', () => {
  it('that not every system can store are reported with a message', async () => {
    const folder = await createFolder({
      'aux.py': '',
      'what?.py': '',
      'new\nline.py': '',
      'dot.': '',
      'nodes.py': '',
    });
    expect(await listProblems(folder)).toEqual({
      'aux.py': expect.stringContaining('reserved on Windows'),
      'what?.py': expect.stringContaining('Windows cannot store'),
      'new\nline.py': expect.stringContaining('control character'),
      'dot.': expect.stringContaining('dot or a space'),
    });
    expect(await listPaths(folder)).toEqual(['nodes.py']);
  });

  it('that differ only by case are a problem', async () => {
    const folder = await createFolder({ 'Nodes.py': '', 'nodes.py': '' });
    if ((await listPaths(folder)).length === 2)
      expect(Object.values(await listProblems(folder))).toEqual([expect.stringContaining('only in case')]);
  });

  it('are packed in NFC, and read as they are on disk', async () => {
    const folder = await createCheckout({ 'cafe\u0301.py': 'x' });
    const { files } = await chooseFiles(folder);
    expect(files.map((file) => file.path)).toEqual(['caf\u00e9.py']);
  });

  it.runIf(process.platform === 'linux')('that are not UTF-8 are reported with a message', async () => {
    for (const folder of [await createFolder({ 'nodes.py': '' }), await createCheckout({ 'nodes.py': '' })]) {
      await writeFile(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), '');
      await writeFiles(folder, { 'other.py': '' });
      if (existsSync(join(folder, '.git'))) runGit(folder, 'add', '-A');
      expect(await listProblems(folder)).toEqual({ 'caf\uFFFD': expect.stringContaining('not valid UTF-8') });
      expect(await listPaths(folder)).toEqual(['nodes.py', 'other.py']);
    }
  });

  it('are accepted in any script', async () => {
    const names = ['docs/说明 (1).md', 'quote\'s & "no".txt'.replaceAll('"', ''), 'ünïcode.py'];
    const folder = await createCheckout(Object.fromEntries(names.map((name) => [name, ''])));
    expect((await listPaths(folder)).sort()).toEqual(names.sort());
  });
});

describe('a folder', () => {
  it('that is empty gives no files, and one that is not there an error', async () => {
    const folder = await createEmptyFolder();
    expect(await listPaths(folder)).toEqual([]);
    await mkdir(join(folder, 'only/folders'), { recursive: true });
    expect(await listPaths(folder)).toEqual([]);
    await expect(chooseFiles(join(folder, 'none'))).rejects.toThrow(/ENOENT/);
  });

  it('keeps the executable bit and no other', async () => {
    const folder = await createFolder({ 'run.sh': { executable: '#!/bin/sh' }, 'a.py': '' });
    expect((await chooseFiles(folder)).files).toMatchObject([{ mode: '100644' }, { mode: '100755' }]);
  });
});
