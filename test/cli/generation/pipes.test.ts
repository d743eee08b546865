import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { homeForTest, regen, type Surroundings, startRegen } from '../../support/cli.js';
import { png } from '../../support/generation-double.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

async function createPhotos() {
  const service = await serviceForTest();
  const cwd = folderForTest();
  for (const name of ['a.png', 'b.png']) writeFileSync(join(cwd, name), png);
  const surroundings = {
    cwd,
    home: homeForTest(),
    env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken },
  };
  const run = (argv: readonly string[], more: Surroundings = {}) => regen(argv, { ...surroundings, ...more });
  return { cwd, run, surroundings };
}

const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

test('-o - writes the bytes of one result to stdout, ready for the next command', async () => {
  const { cwd, surroundings } = await createPhotos();
  const first = startRegen(['image', 'relight', 'a.png', '-o', '-'], surroundings);
  const chunks: Buffer[] = [];
  first.child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  expect((await first.ended).exit).toBe(0);
  const bytes = Buffer.concat(chunks);
  expect(bytes.subarray(0, 4)).toEqual(PNG_START);
  expect(bytes.length).toBeGreaterThan(60);
  expect(readdirSync(cwd)).not.toContain('-');
});

test('a job ends well after the reader of its messages has closed the pipe', async () => {
  const { cwd, surroundings } = await createPhotos();
  const job = startRegen(['image', 'relight', 'a.png', '-o', 'result.png'], surroundings);
  job.child.stderr?.destroy();
  const { exit, stdout } = await job.ended;
  expect([exit, stdout]).toEqual([0, `${join(cwd, 'result.png')}\n`]);
  expect(readdirSync(cwd)).toContain('result.png');
});

test('-o - is refused before anything is sent if it cannot work', async () => {
  const { run } = await createPhotos();
  const relight = ['image', 'relight', 'a.png', '-o', '-'];
  for (const [argv, more, why] of [
    [[...relight, 'b.png'], {}, 'takes exactly one result'],
    [[...relight, '--json'], {}, '--output - and --json'],
    [relight, { terminal: true }, 'binary data to the terminal'],
  ] as const) {
    expect(await run(argv, more)).toMatchObject({
      exit: 2,
      stdout: '',
      stderr: expect.stringContaining(why),
    });
  }
  expect((await run(['task', 'list', '--json'])).stdout).toBe('[]\n');
});

test('@last and a saved file use the result of a task as the image of the next one', async () => {
  const { run, cwd } = await createPhotos();
  expect(await run(['image', 'upscaler', '@last'])).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining('No task was started from here.'),
  });
  expect((await run(['image', 'relight', 'a.png', '-o', 'lit.png'])).exit).toBe(0);
  const second = await run(['image', 'upscaler', '@last', '-o', 'big.png']);
  expect(second.exit, second.stderr).toBe(0);
  const entry = JSON.parse((await run(['task', 'show', '@last', '--json'])).stdout);
  expect(entry.request.image.file).toBe(join(cwd, 'lit.png'));
  // A result that was not saved is read from the service.
  expect((await run(['image', 'relight', 'b.png'])).exit).toBe(0);
  const third = await run(['image', 'upscaler', '@last:relight', '-o', 'third.png']);
  expect(third.exit, third.stderr).toBe(0);
  expect(readFileSync(join(cwd, 'third.png')).subarray(0, 4)).toEqual(PNG_START);
});

test('task ids are read from stdin, and {n} numbers their files', async () => {
  const { run, cwd } = await createPhotos();
  const { stdout } = await run(['image', 'relight', 'a.png', 'b.png', '--no-wait']);
  const waited = await run(['task', 'wait', '-', '-o', 'out/{n}-{name}.{ext}'], { stdin: stdout });
  expect(waited.exit, waited.stderr).toBe(0);
  expect(readdirSync(join(cwd, 'out')).sort()).toEqual(['1-a.png', '2-b.png']);
  const named = await run(['image', 'relight', 'a.png', 'b.png', '--again', '-o', 'photo-{n}.png']);
  expect(named.exit, named.stderr).toBe(0);
  expect(readdirSync(cwd)).toEqual(expect.arrayContaining(['photo-1.png', 'photo-2.png']));
});

test.each([
  [['version', 'bulk']],
  [['task', 'wait', '-']],
  [['node', 'get', 'x', '--token-file', '-']],
  [['node', 'create', 'acme', '--body', '-']],
  [['api', 'POST', '/nodes', '--body', '-']],
  [['auth', 'login', '--with-token']],
  [['batch', '-', '--state', 'jobs.state']],
  [['image', 'relight', '-']],
  [['webhook', 'verify']],
])('Ctrl-C ends %j while it reads standard input', async (argv) => {
  const { run } = await createPhotos();
  const signals = new EventEmitter();
  const stdin = new Readable({ read: () => void setImmediate(() => signals.emit('SIGINT', 'SIGINT')) });
  const { exit, stdout, stderr } = await run(argv, { stdin, signals });
  expect({ exit, stdout, stderr }).toEqual({
    exit: 130,
    stdout: '',
    stderr: expect.stringContaining('Interrupted.'),
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a command that reads from a pipe', async (signal) => {
  const { surroundings } = await createPhotos();
  let chunks = 0;
  const stdin = new Readable({
    read() {
      chunks += 1;
      // A pipe holds less, so the command is reading.
      if (chunks <= 32) this.push(Buffer.alloc(65_536));
      else job.child.kill(signal);
    },
  });
  const job = startRegen(['webhook', 'verify'], { ...surroundings, stdin });
  expect((await job.ended).exit).toBe(signal === 'SIGINT' ? 130 : 143);
});
