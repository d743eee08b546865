import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseFiles } from '../../src/pack/files.js';
import { findRemoteUrl, listTrackedFiles, listUntrackedFiles } from '../../src/pack/git.js';
import { PackError } from '../../src/pack/problem.js';
import { createCheckout, createEmptyFolder, createFolder, runGit, writeFiles } from './folders.js';

/** What git itself lists. */
function listWithGit(folder: string, ...flags: string[]): string[] {
  const listing = execFileSync('git', ['ls-files', '-z', ...flags], { cwd: folder, encoding: 'utf8' });
  return [...new Set(listing.split('\0').slice(0, -1))].sort();
}

const sortPaths = (paths: Iterable<string> | undefined) => [...(paths ?? [])].sort();

function expectSameFiles(folder: string): void {
  const expected = listWithGit(folder, '--recurse-submodules');
  expect(expected.length).toBeGreaterThan(0);
  expect(sortPaths(listTrackedFiles(folder))).toEqual(expected);
}

const FILES = Object.fromEntries(
  [
    'a.py',
    'web/a.js',
    'web/b/deep.js',
    'packs/one/x.py',
    'packs/one/sub/y.py',
    'packs/two/z.py',
    'ünï/码.txt',
  ].map((path) => [path, path]),
);

describe('the tracked files are those that git lists', () => {
  it.each(['2', '3', '4'])('with an index of version %s', async (version) => {
    const folder = await createCheckout({ ...FILES, 'later.py': '', [`${'long/'.repeat(40)}name`]: '' });
    if (version !== '2') {
      await writeFiles(folder, { 'intended.py': '' });
      runGit(folder, 'add', '--intent-to-add', 'intended.py');
    }
    if (version === '4') runGit(folder, 'update-index', '--index-version', '4');
    expect(readFileSync(join(folder, '.git/index')).readUInt32BE(4)).toBe(Number(version));
    expectSameFiles(folder);
    expectSameFiles(join(folder, 'packs/one'));
  });

  it('with an index of version 4 in several blocks', async () => {
    const many = Array.from({ length: 30_000 }, (_, at) => [`folder-${at % 7}/file-${at}.txt`, ''] as const);
    const folder = await createEmptyFolder();
    runGit(folder, 'init', '-q');
    runGit(folder, 'config', 'index.threads', '4');
    runGit(folder, 'config', 'index.version', '4');
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: folder, input: '' });
    execFileSync('git', ['update-index', '--index-info'], {
      cwd: folder,
      input: many.map(([path]) => `100644 ${blob.toString().trim()}\t${path}\n`).join(''),
    });
    expectSameFiles(folder);
  });

  it('in a repository with SHA-256', async () => {
    const folder = await createFolder(FILES);
    runGit(folder, 'init', '-q', '--object-format=sha256');
    runGit(folder, 'add', '-A');
    expectSameFiles(folder);
    runGit(folder, 'update-index', '--index-version', '4');
    expectSameFiles(join(folder, 'packs'));
  });

  it('after files were removed, renamed, ignored and deleted', async () => {
    const folder = await createCheckout({ ...FILES, '.gitignore': '*.log\n', 'kept.log': '', 'gone.py': '' });
    runGit(folder, 'mv', 'a.py', 'b.py');
    runGit(folder, 'rm', '-q', '--cached', 'packs/two/z.py');
    rmSync(join(folder, 'gone.py'));
    expectSameFiles(folder);
  });

  it('in a merge with conflicts', async () => {
    const folder = await createCheckout({ 'a.py': 'one' });
    runGit(folder, 'checkout', '-q', '-b', 'other');
    await writeFiles(folder, { 'a.py': 'two' });
    runGit(folder, 'commit', '-q', '-a', '-m', 'two');
    runGit(folder, 'checkout', '-q', '-');
    await writeFiles(folder, { 'a.py': 'three' });
    runGit(folder, 'commit', '-q', '-a', '-m', 'three');
    expect(() => runGit(folder, 'merge', '-q', 'other')).toThrow();
    expectSameFiles(folder);
  });

  it('with a split index', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`many/file-${at}.txt`, '']));
    const folder = await createCheckout({ ...FILES, ...many });
    runGit(folder, 'config', 'splitIndex.maxPercentChange', '100');
    runGit(folder, 'update-index', '--split-index');
    expectSameFiles(folder);
    runGit(folder, 'rm', '-q', '--cached', 'a.py', ...Object.keys(many).slice(100, 230));
    await writeFiles(folder, { 'web/a.js': 'changed', 'new.py': '', 'many/file-7.txt': 'changed' });
    runGit(folder, 'add', 'web/a.js', 'new.py', 'many/file-7.txt');
    expectSameFiles(folder);
    runGit(folder, 'update-index', '--index-version', '4');
    expectSameFiles(folder);
  });

  it('with an untracked cache, a file system monitor and checksums left out', async () => {
    const folder = await createCheckout(FILES);
    runGit(folder, 'config', 'index.skipHash', 'true');
    runGit(folder, 'update-index', '--force-untracked-cache');
    runGit(
      folder,
      '-c',
      'core.fsmonitor=true',
      '-c',
      'core.fsmonitorHookVersion=1',
      'update-index',
      '--fsmonitor',
    );
    expectSameFiles(folder);
  });

  it('in submodules and their submodules, and in a worktree of both', async () => {
    const inner = await createCheckout({ 'inner.py': '', 'sub/x.py': '' });
    const middle = await createCheckout({ 'middle.py': '' });
    runGit(middle, 'submodule', 'add', '-q', inner, 'deps/inner');
    runGit(middle, 'commit', '-q', '-m', 'inner');
    const folder = await createCheckout(FILES);
    runGit(folder, 'submodule', 'add', '-q', middle, 'packs/one/middle');
    runGit(folder, 'submodule', 'update', '-q', '--init', '--recursive');
    runGit(folder, 'commit', '-q', '-m', 'middle');
    expectSameFiles(folder);
    expect(listTrackedFiles(folder)).toContain('packs/one/middle/deps/inner/sub/x.py');
    expectSameFiles(join(folder, 'packs/one'));
    expectSameFiles(join(folder, 'packs/one/middle/deps/inner/sub'));

    const worktree = join(await createEmptyFolder(), 'tree');
    runGit(folder, 'worktree', 'add', '-q', worktree);
    runGit(worktree, 'rm', '-q', '--cached', 'a.py');
    runGit(worktree, 'submodule', 'update', '-q', '--init', '--recursive');
    expectSameFiles(worktree);
    expect(listTrackedFiles(folder)).toContain('a.py');
  });

  it('in a sparse checkout, as far as they are in the folder', async () => {
    const folder = await createCheckout(FILES);
    runGit(folder, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'packs/one');
    expect(listWithGit(folder, '--sparse')).toContain('packs/two/');
    const present = listWithGit(folder).filter((path) => existsSync(join(folder, path)));
    expect(sortPaths(listTrackedFiles(folder))).toEqual(present);
    expectSameFiles(join(folder, 'packs/one'));
    await writeFiles(folder, { 'packs/two/z.py': '' });
    expect(() => listTrackedFiles(join(folder, 'packs/two'))).toThrow(/outside the sparse checkout/);
  });

  it('in a repository beside its checkout', async () => {
    const folder = await createFolder({ 'a.py': '' });
    runGit(folder, 'init', '-q', '--separate-git-dir', join(await createEmptyFolder(), 'kept'));
    runGit(folder, 'add', '-A');
    expectSameFiles(folder);
  });
});

it('the untracked files are those that git lists, without what tools generate', async () => {
  const folder = await createCheckout({ ...FILES, '.gitignore': '*.log\n/packs/one/out\n' });
  await writeFiles(folder, {
    ...{ 'packs/one/new.py': '', 'packs/one/a.log': '', 'packs/one/out/x': '', 'packs/one/secret.txt': '' },
    ...{ 'packs/one/sub/.gitignore': '!b.log\n', 'packs/one/sub/b.log': '', 'packs/two/other.py': '' },
    '.git/info/exclude': 'secret.txt\n',
  });
  const pack = join(folder, 'packs/one');
  const expected = listWithGit(pack, '--others', '--exclude-standard');
  expect(expected).toEqual(['new.py', 'sub/.gitignore', 'sub/b.log']);
  expect(sortPaths(await listUntrackedFiles(pack, new Set(listTrackedFiles(pack))))).toEqual(expected);
});

describe('the remote', () => {
  it('is origin, or else the first other remote, as in git', async () => {
    const folder = await createCheckout({ 'a.py': '', 'sub/b.py': '' });
    expect(findRemoteUrl(folder)).toBe(undefined);
    runGit(folder, 'remote', 'add', 'fork.of.x', 'https://example.com/fork');
    expect(findRemoteUrl(folder)).toBe('https://example.com/fork');
    runGit(folder, 'remote', 'add', 'origin', 'git@example.com:me/nodes.git');
    runGit(folder, 'config', 'remote.pushDefault', 'origin');
    expect(findRemoteUrl(join(folder, 'sub'))).toBe('git@example.com:me/nodes.git');
    await writeFiles(folder, {
      '.git/config': '[REMOTE "origin"] # mine\n\tURL = "https://example.com/q#1"\n',
    });
    expect(findRemoteUrl(folder)).toBe('https://example.com/q#1');
  });
});

describe('a checkout that cannot be read', () => {
  it.each([
    ['is empty', Buffer.alloc(0)],
    ['is no index', Buffer.from('x'.repeat(1000))],
    ['is cut', Buffer.from('DIRC\0\0\0\x02\0\0\0\x09'.padEnd(90, 'x'), 'latin1')],
    ['needs a later git', Buffer.from(`DIRC\0\0\0\x02\0\0\0\0newe\0\0\0\0${'x'.repeat(20)}`, 'latin1')],
    ['takes more of a path than there is', indexOfPaths([[9, 'x']])],
    ['repeats a long path without end', indexOfPaths([[0, 'x'.repeat(60_000)], ...repeatEntry(3000)])],
    ['names a shared index that is missing', createSplitIndex(Buffer.alloc(0))],
    ['has a bitmap without end', createSplitIndex(Buffer.from('ff'.repeat(4000), 'hex'))],
  ])('fails with a message if its index %s', async (_what, index) => {
    const folder = await createCheckout({ 'a.py': '', 'private.txt': '' });
    await writeFiles(folder, { '.git/index': index });
    expect(() => listTrackedFiles(folder)).toThrow(PackError);
    expect(() => listTrackedFiles(folder)).toThrow(/^git's index in .* cannot be read: .*git -C/);
  });

  it('fails with a message if its index is too large', async () => {
    const folder = await createCheckout({ 'a.py': '' });
    truncateSync(join(folder, '.git/index'), 4 * 1024 ** 3);
    expect(() => listTrackedFiles(folder)).toThrow(/index is larger than 64 MiB/);
  });

  it.each(['index', 'config', 'commondir', 'sharedindex'])(
    'fails at once where its %s is a pipe or a device',
    async (name) => {
      const folder = await createCheckout({ 'a.py': '' });
      if (name === 'sharedindex') runGit(folder, 'update-index', '--split-index');
      const [path = ''] = execFileSync('find', [join(folder, '.git'), '-maxdepth', '1', '-name', `${name}*`])
        .toString()
        .split('\n');
      for (const make of [['mkfifo'], ['ln', '-s', '/dev/zero'], ['mkdir']]) {
        const file = path || join(folder, '.git', name);
        rmSync(file, { recursive: true, force: true });
        execFileSync(make[0] as string, [...make.slice(1), file]);
        expect(() => listTrackedFiles(folder)).toThrow(/is not a regular file|is a folder/);
      }
    },
  );

  it('reads no more than a pack needs where many submodules share one large index', async () => {
    const folder = await createCheckout({ 'big/a.py': '' });
    runGit(join(folder, 'big'), 'init', '-q');
    truncateSync(join(folder, '.git/index'), 0);
    const blob = '1234567890'.repeat(4);
    rmSync(join(folder, '.git/index'));
    for (let at = 0; at < 20; at++) {
      await writeFiles(folder, { [`s${at}/.git`]: 'gitdir: ../big/.git\n' });
      runGit(folder, 'update-index', '--add', '--cacheinfo', `160000,${blob},s${at}`);
    }
    await writeFiles(folder, {
      'big/.git/index': indexOfPaths([[0, 'x'.repeat(4000)], ...repeatEntry(8000)]),
    });
    expect(() => listTrackedFiles(folder)).toThrow(/more files/);
  });
});

/** An index of version 4: how much each path takes off the end of the one before, and what it adds. */
function indexOfPaths(paths: readonly (readonly [number, string])[]): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(paths.length);
  const entries = paths.map(([cut, path]) =>
    Buffer.concat([Buffer.alloc(62), Buffer.from([cut]), Buffer.from(`${path}\0`)]),
  );
  return Buffer.concat([Buffer.from('DIRC\0\0\0\x04', 'latin1'), count, ...entries, Buffer.alloc(20)]);
}

function repeatEntry(count: number): (readonly [number, string])[] {
  return Array.from({ length: count }, (_, at) => [at === 0 ? 0 : 8, String(at).padStart(8, '0')] as const);
}

/** An index that is the difference to another one. */
function createSplitIndex(bitmaps: Buffer): Buffer {
  const link = Buffer.concat([Buffer.alloc(20, 1), bitmaps]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(link.length);
  const start = Buffer.from('DIRC\0\0\0\x02\0\0\0\0link', 'latin1');
  return Buffer.concat([start, size, link, Buffer.alloc(20)]);
}

describe('a file .git', () => {
  it.each([
    'gitdir: ',
    'gitdir: /nowhere',
    'gitdir: .',
    'gitdir: .git',
    'gitdir: /dev/zero',
    'something',
    '\0'.repeat(9),
  ])('that contains %j is no checkout', async (text) => {
    const folder = await createFolder({ 'a.py': '', '.git': text });
    expect(listTrackedFiles(folder)).toBe(undefined);
    expect(await chooseFiles(folder)).toMatchObject({ source: 'folder', files: [{ path: 'a.py' }] });
  });

  it('that is a pipe, a device, an empty folder or a loop leaves the checkout around it', async () => {
    const folder = await createCheckout({ 'sub/a.py': '' });
    const path = join(folder, 'sub/.git');
    for (const make of [['mkfifo'], ['ln', '-s', '/dev/zero'], ['ln', '-s', '.git'], ['mkdir']]) {
      rmSync(path, { recursive: true, force: true });
      execFileSync(make[0] as string, [...make.slice(1), path]);
      expect(listTrackedFiles(join(folder, 'sub'))).toEqual(['a.py']);
    }
  });
});

it('paths below .git in an index are never listed', async () => {
  const folder = await createFolder({ 'a.py': '' });
  runGit(folder, 'init', '-q');
  await writeFiles(folder, {
    '.git/index': indexOfPaths([
      [0, '.git/config'],
      [11, 'sub/.GIT/config'],
      [15, 'a.py'],
    ]),
  });
  expect(listTrackedFiles(folder)).toEqual(['a.py']);
});

const isRoot = process.geteuid?.() === 0;
const STRANGER = 65534;

describe.skipIf(!isRoot)('the owner of a checkout', () => {
  it.each(['.git', '.', '.git as a link', '.git as a file'])(
    'is checked, and the checkout of another user is ignored: %s',
    async (what) => {
      const parent = await createCheckout({ 'mine/a.py': '', 'mine/.env': '' });
      const elsewhere = await createEmptyFolder();
      if (what !== '.' && what !== '.git') renameSync(join(parent, '.git'), join(elsewhere, 'kept'));
      if (what === '.git as a link')
        execFileSync('ln', ['-s', join(elsewhere, 'kept'), join(parent, '.git')]);
      if (what === '.git as a file') writeFileSync(join(parent, '.git'), `gitdir: ${elsewhere}/kept\n`);
      expect(listTrackedFiles(join(parent, 'mine'))).toEqual(['.env', 'a.py']);
      chownSync(
        what === '.' ? parent : what === '.git' ? join(parent, '.git') : join(elsewhere, 'kept'),
        STRANGER,
        STRANGER,
      );
      expect(listTrackedFiles(join(parent, 'mine'))).toBe(undefined);
      expect(await listUntrackedFiles(join(parent, 'mine'), new Set())).toEqual([]);
      expect(findRemoteUrl(join(parent, 'mine'))).toBe(undefined);
    },
  );

  it('has no effect if it cannot be read', async () => {
    const parent = await createCheckout({ 'mine/a.py': '' });
    chownSync(join(parent, '.git'), STRANGER, STRANGER);
    chmodSync(join(parent, '.git'), 0o000);
    expect(listTrackedFiles(join(parent, 'mine'))).toBe(undefined);
  });

  it('may be the owner of the folder, as when a container has the folder of a user', async () => {
    const folder = await createCheckout({ 'a.py': '' });
    await writeFiles(folder, { 'untracked.txt': '' });
    execFileSync('chown', ['-R', String(STRANGER), folder]);
    expect(listTrackedFiles(folder)).toEqual(['a.py']);
  });

  it('may be the user behind sudo', async () => {
    const folder = await createCheckout({ 'root/a.py': '' });
    execFileSync('chown', ['-R', String(STRANGER), join(folder, '.git')]);
    chownSync(folder, STRANGER, STRANGER);
    expect(listTrackedFiles(join(folder, 'root'))).toBe(undefined);
    process.env.SUDO_UID = String(STRANGER);
    try {
      expect(listTrackedFiles(join(folder, 'root'))).toEqual(['a.py']);
    } finally {
      delete process.env.SUDO_UID;
    }
  });
});
