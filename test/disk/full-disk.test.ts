import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/terminal/failure.js';
import { homeForTest } from '../support/cli.js';
import { folderForTest } from '../support/service.js';

/** Runs a program whose files cannot grow beyond 1 KiB; the write that reaches the limit takes a part, as on a full disk. */
function runOnFullDisk(argv: readonly string[], more = ''): Promise<{ exit: number; stderr: string }> {
  const limited = ['-c', `trap '' XFSZ; ulimit -f 2; exec "$0" "$@" ${more}`, process.execPath, ...argv];
  const env = { PATH: process.env.PATH, HOME: homeForTest(), TSX_DISABLE_CACHE: '1' };
  return new Promise((done) => {
    execFile('sh', limited, { env }, (error, _, stderr) => done({ exit: Number(error?.code ?? 0), stderr }));
  });
}

/** Runs code with a module of the sources as `disk`. */
const runModule = (path: string, code: string) =>
  runOnFullDisk([
    '--import=tsx',
    '--input-type=module',
    '--eval',
    `const part = await import(${JSON.stringify(resolve(path))}); ${code}`,
  ]);

const onUnix = test.skipIf(process.platform === 'win32');

onUnix('what is appended to the state of a batch is there completely or not at all', async () => {
  const path = join(folderForTest(), 'jobs.state');
  const { stderr } = await runModule(
    'src/cli/batch/journal.ts',
    `const journal = new part.Journal(${JSON.stringify(path)}, { baseUrl: 'http://127.0.0.1:1' });
    for (let job = 0; ; job++) journal.change('job-' + job, { entry: 'x'.repeat(150) });`,
  );
  expect(stderr).toContain('EFBIG');
  const text = readFileSync(path, 'utf8');
  expect(text.length).toBeGreaterThan(700);
  expect(text.endsWith('}\n')).toBe(true);
});

onUnix('the list of handled webhooks has no part of a name', async () => {
  const state = folderForTest();
  const { stderr } = await runModule(
    'src/cli/webhooks/inbox.ts',
    `const handled = new part.Handled(${JSON.stringify(state)});
    for (let at = 0; ; at++) handled.add('msg_' + String(at).padStart(95, '0'));`,
  );
  expect(stderr).toContain('EFBIG');
  const lines = readFileSync(join(state, 'webhooks', 'handled'), 'utf8').split('\n');
  expect(lines.length).toBeGreaterThan(9);
  expect(lines.slice(0, -1).every((line) => line.length === 99)).toBe(true);
  expect(lines.at(-1)).toBe('');
});

onUnix('a private file that cannot be written stays as it was', async () => {
  const folder = folderForTest();
  const path = join(folder, 'credentials.json');
  writeFileSync(path, 'before', { mode: 0o600 });
  const { stderr } = await runModule(
    'src/disk/private-file.ts',
    `part.writePrivateFile(${JSON.stringify(path)}, 'after'.repeat(1000));`,
  );
  expect(stderr).toContain('EFBIG');
  expect(readFileSync(path, 'utf8')).toBe('before');
  expect(readdirSync(folder)).toEqual(['credentials.json']);
});

onUnix('an answer that does not fit into the file of stdout is a failure', async () => {
  const folder = folderForTest();
  mkdirSync(folder, { recursive: true });
  const { exit, stderr } = await runOnFullDisk(
    [resolve('bin/regen.js'), 'schema', 'image relight'],
    `> '${join(folder, 'out.json')}'`,
  );
  expect([exit, stderr]).toEqual([1, expect.stringContaining('Could not write to stdout')]);
});

onUnix('a file that cannot grow is reported like a full disk', async () => {
  const path = join(folderForTest(), 'regen.toml');
  const { exit, stderr } = await runOnFullDisk([resolve('bin/regen.js'), 'serve', 'init', path]);
  expect([exit, stderr]).toEqual([
    exitCodes.unreachable,
    expect.stringContaining('A file would be larger than the system allows'),
  ]);
});
