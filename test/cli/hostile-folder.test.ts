import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { homeForTest, regen, startRegen } from '../support/cli.js';
import { filesForTest, packForTest } from '../support/packs.js';
import { folderForTest, serviceForTest } from '../support/service.js';

/** A device like /dev/zero that a mistake may destroy: root could replace the one of the machine. */
function createZero(): string {
  if (process.geteuid?.() !== 0) return '/dev/zero';
  const path = join(folderForTest(), 'zero');
  execFileSync('mknod', [path, 'c', '1', '5']);
  return path;
}

const createPipe = (path: string) => execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', path]);

/** Kinds of files that never end, or that would take all memory. */
const KINDS: Record<string, (path: string) => unknown> = {
  'a link to /dev/zero': (path) => symlinkSync(createZero(), path),
  'a pipe': (path) => createPipe(path),
  'a link to a pipe': (path) => {
    const pipe = join(folderForTest(), 'pipe');
    createPipe(pipe);
    symlinkSync(pipe, path);
  },
  'a socket': async (path) => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(path, done));
    onTestFinished(() => void server.close());
  },
  'a folder': (path) => mkdirSync(path),
  'a file of 4 GB': (path) => {
    writeFileSync(path, '');
    truncateSync(path, 4 * 1024 ** 3);
  },
};

async function putInPlace(kind: string, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  await KINDS[kind]?.(path);
}

const FLIT =
  '[project]\nname = "pack"\ndynamic = ["version", "dependencies"]\n[tool.hostui]\nPublisherId = "acme"\n';
const DYNAMIC = `${FLIT}[tool.setuptools.dynamic]\nversion = { file = "VERSION" }\ndependencies = { file = "requirements.txt" }\n`;

describe.each(Object.keys(KINDS))('%s', (kind) => {
  const isFolder = kind === 'a folder';

  test('in place of a file of the pack ends each command with a message', async () => {
    const files = [
      'pyproject.toml',
      'VERSION',
      'requirements.txt',
      '.gitignore',
      '.regenignore',
      '.comfyignore',
      'sub/.gitignore',
    ];
    for (const name of files) {
      const cwd = packForTest({
        files: { 'pyproject.toml': DYNAMIC, VERSION: '1.0.0', 'requirements.txt': '' },
      });
      await putInPlace(kind, join(cwd, name));
      for (const argv of [['check'], ['pack', '--list'], ['publish', '--dry-run'], ['bump']]) {
        const { exit, stderr } = await regen(['version', ...argv], { cwd });
        const isRead = name === 'pyproject.toml' || (!isFolder && argv[0] !== 'bump') || name === 'VERSION';
        expect([name, argv, exit], stderr).toEqual([name, argv, isRead ? 2 : expect.toBeOneOf([0, 2, 6])]);
        expect(stderr).not.toContain('bug');
      }
    }
  });

  // A large source file is read as a part of the pack.
  test.skipIf(kind === 'a file of 4 GB')('in place of a source file is reported for that file', async () => {
    const cwd = packForTest();
    await putInPlace(kind, join(cwd, 'nodes.py'));
    const { exit, stderr } = await regen(['version', 'check'], { cwd });
    expect([exit, stderr]).toEqual([
      isFolder ? 0 : expect.toBeOneOf([2, 6]),
      expect.not.stringContaining('bug'),
    ]);
  });

  test('in place of a pyproject.toml does not affect other commands', async () => {
    const cwd = folderForTest();
    await putInPlace(kind, join(cwd, 'pyproject.toml'));
    expect((await regen(['config', 'list'], { cwd })).exit).toBe(0);
    expect((await regen(['completion', 'bash'], { cwd })).exit).toBe(0);
    expect(
      (await regen(['node', 'init', '--force', '--publisher', 'acme', '--no-input'], { cwd })).exit,
    ).toBe(kind === 'a file of 4 GB' ? 0 : 2);
  });

  test('in place of a file that init reads is ignored', async () => {
    const cwd = folderForTest();
    for (const name of ['README.md', 'requirements.txt']) await putInPlace(kind, join(cwd, name));
    const { exit, stderr } = await regen(['node', 'init', '--publisher', 'acme', '--no-input'], { cwd });
    expect(exit, stderr).toBe(0);
  });

  test('in place of a named file ends each command with a message', async () => {
    const cwd = folderForTest();
    const home = homeForTest();
    await putInPlace(kind, join(cwd, 'file'));
    await putInPlace(kind, join(cwd, 'file.csv'));
    writeFileSync(join(cwd, 'jobs.jsonl'), '{"command":"image upscaler","image":"file"}\n');
    await putInPlace(kind, join(home, '.config/regen/config.json'));
    const commands: readonly (readonly string[])[] = [
      ['image', 'upscaler', 'file', '--dry-run'],
      ['image', 'relight', '--body', '@file', '--dry-run'],
      ['batch', 'file', '--dry-run'],
      ['batch', 'file.csv', '--dry-run'],
      ['batch', 'jobs.jsonl', '--dry-run'],
      ['version', 'publish', '--changelog-file', 'file', '--dry-run'],
      ['publisher', 'list', '--token-file', 'file', '--base-url', 'http://127.0.0.1:9'],
      ['webhook', 'verify', 'file', '--secret-file', 'file'],
      ['serve', '--config', 'file'],
      ['api', 'POST', '/nodes', '--body', '@file'],
    ];
    for (const argv of commands) {
      const { exit, stderr } = await regen(argv, { cwd });
      expect([argv, exit, stderr]).toEqual([argv, 2, expect.not.stringContaining('bug')]);
    }
    const { exit, stderr } = await regen(['config', 'list'], { cwd, home });
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/is not a regular file|is a folder|is larger/)]);
  });
});

test('a pipe of a shell is read when it is named', async () => {
  const service = await serviceForTest();
  const script = `"$@" <(echo '${service.ownerToken}')`;
  const argv = [
    process.execPath,
    join(process.cwd(), 'bin/regen.js'),
    'publisher',
    'list',
    '--base-url',
    service.url,
    '--token-file',
  ];
  const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', ...argv], {
    env: { PATH: process.env.PATH, HOME: homeForTest() },
  });
  expect(stdout).toBe('');
});

describe('patterns that take too long to match', () => {
  test('end the dynamic version of hatch with a message', async () => {
    const version = `[tool.hatch.version]\npath = "v.py"\npattern = '(?P<version>(a+)+)$b'\n`;
    const cwd = filesForTest({
      'pyproject.toml': FLIT.replace(', "dependencies"', '') + version,
      'v.py': 'a'.repeat(40),
    });
    const { exit, stderr } = await regen(['version', 'check'], { cwd });
    expect([exit, stderr]).toEqual([2, expect.stringContaining('takes too long to match')]);
  });

  const DEEP = `${'a/'.repeat(60)}c`;
  test.each(['.gitignore', '.regenignore', '.comfyignore', 'a/a/.gitignore', 'includes'])(
    'end %s with a message',
    async (name) => {
      const bomb = `${'**/a/'.repeat(12)}b`;
      const cwd = packForTest({ files: { [DEEP]: '' } });
      if (name !== 'includes') filesForTest({ [name]: `${bomb}\n` }, cwd);
      else
        writeFileSync(
          join(cwd, 'pyproject.toml'),
          `[project]\nname = "pack"\nversion = "1.0.0"\n[tool.hostui]\nPublisherId = "acme"\nincludes = ["${bomb}"]\n`,
        );
      const { exit, stderr } = await regen(['version', 'pack', '--list'], { cwd });
      expect([exit, stderr]).toEqual([2, expect.stringContaining('take too long to match')]);
    },
  );
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a command that is busy', async (signal) => {
  const job = startRegen(['config', 'list', '--jq', 'last(range(0; 1e13))']);
  await expect.poll(() => isBusy(job.child.pid), { interval: 500 }).toBe(true);
  job.child.kill(signal);
  await job.ended;
  expect(job.child.signalCode).toBe(signal);
});

/** Whether a process has computed for longer than starting takes. */
function isBusy(pid: number | undefined): boolean {
  const times = execFileSync('ps', ['-o', 'cputimes=', '-p', String(pid)]);
  return Number(times) >= 2;
}

describe('a state file of a batch', () => {
  const lines = '{"command":"image upscaler","image":"a.png"}\n';
  const readMode = (path: string) => statSync(path).mode & 0o777;

  test.each([
    ['a JSON file without a line break', '{"a":"0123456789"}'],
    ['a text', 'one\ntwo\nthree'],
    ['a JSON list', '[1,\n2]\n'],
    ['the state of another program', '{"batch":2}\n{"job":"x"}'],
  ])('that is %s is never changed', async (_what, content) => {
    const cwd = filesForTest({ 'jobs.jsonl': lines, 'a.png': 'x', 'wrong.json': content });
    chmodSync(join(cwd, 'wrong.json'), 0o644);
    symlinkSync('wrong.json', join(cwd, 'jobs.jsonl.state'));
    for (const flags of [
      ['--state', 'wrong.json'],
      ['--state', 'wrong.json', '--dry-run'],
      [],
      ['--dry-run'],
    ]) {
      const { exit, stderr } = await regen(['batch', 'jobs.jsonl', ...flags], { cwd });
      expect([exit, stderr]).toEqual([2, expect.stringMatching(/is not the state of a batch|is a link/)]);
      expect(readFileSync(join(cwd, 'wrong.json'), 'utf8')).toBe(content);
      expect(readMode(join(cwd, 'wrong.json'))).toBe(0o644);
    }
  });

  test('is not changed by --dry-run', async () => {
    const content = '{"batch":1,"service":"local"}\n{"job":"1","en';
    const cwd = filesForTest({ 'jobs.jsonl': lines, 'a.png': '\x89PNG', 'jobs.jsonl.state': content });
    chmodSync(join(cwd, 'jobs.jsonl.state'), 0o644);
    const { exit, stderr } = await regen(['batch', 'jobs.jsonl', '--dry-run'], { cwd });
    expect(exit, stderr).toBe(0);
    expect(readFileSync(join(cwd, 'jobs.jsonl.state'), 'utf8')).toBe(content);
    expect(readMode(join(cwd, 'jobs.jsonl.state'))).toBe(0o644);
  });
});

test.each([
  ['version', 'bump'],
  ['node', 'init', '--force', '--publisher', 'acme', '--no-input'],
])('%s %s writes nothing where a link leads out of the folder', async (...argv) => {
  const elsewhere = packForTest();
  const before = readFileSync(join(elsewhere, 'pyproject.toml'), 'utf8');
  const cwd = folderForTest();
  symlinkSync(join(elsewhere, 'pyproject.toml'), join(cwd, 'pyproject.toml'));
  const { exit, stderr } = await regen(argv, { cwd });
  expect([exit, stderr]).toEqual([2, expect.stringContaining('link to a place outside its folder')]);
  expect(readFileSync(join(elsewhere, 'pyproject.toml'), 'utf8')).toBe(before);
});

test('--output with --force replaces no pipe or device', async () => {
  const cwd = packForTest();
  const out = folderForTest();
  createPipe(join(out, 'pipe'));
  const { exit, stderr } = await regen(['version', 'pack', '-o', join(out, 'pipe'), '--force'], { cwd });
  expect([exit, stderr]).toEqual([2, expect.stringContaining('is not a regular file')]);
  expect(statSync(join(out, 'pipe')).isFIFO()).toBe(true);
});

const nowhere = { env: { REGEN_BASE_URL: 'http://127.0.0.1:9' } };

test('a file name that is too long and a circle of links exit 2', async () => {
  const cwd = filesForTest({});
  symlinkSync('circle', join(cwd, 'circle'));
  for (const [name, sentence] of [
    ['x'.repeat(300), 'A name is too long for the file system'],
    ['circle', 'Symbolic links lead to each other'],
  ]) {
    const { exit, stderr } = await regen(['image', 'relight', name as string], { ...nowhere, cwd });
    expect(stderr).toContain(sentence);
    expect(exit).toBe(2);
  }
});
