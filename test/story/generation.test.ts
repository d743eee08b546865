import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import { EngineFailure } from '../../src/service/operation/engine.js';
import { entry, homeForTest, startRegen } from '../support/cli.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { pixel } from '../support/generation.js';
import { generationDoubleForTest, png } from '../support/generation-double.js';
import { folderForTest, serviceForTest } from '../support/service.js';
import { startRegenInTerminal } from '../support/terminal.js';
import { watchWrites } from '../support/watch-writes.js';

const image = Buffer.from(pixel, 'base64');

function createPhotos(...names: string[]): string {
  const cwd = folderForTest();
  for (const name of names) writeFileSync(join(cwd, name), image);
  return cwd;
}

/** A service that gives images back as they are, and what a command needs to reach it. */
async function startCopyingService(input: ConfigurationInput = {}, engine = createCopyingEngine()) {
  const service = await serviceForTest(input, { engines: { image: engine } });
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  return { service, home: homeForTest(), env };
}

test('every image command saves its results', async () => {
  const { home, env } = await startCopyingService();
  const cwd = createPhotos('photo.png');
  const commands = [
    ['relight', 'photo.png', '--prompt', '(warm evening:1.2)', '--transfer-light-from-lightmap', 'photo.png'],
    ['style-transfer', 'photo.png', 'photo.png'],
    ['skin-enhancer', 'photo.png', '--sharpen', '10'],
    ['upscaler', 'photo.png', '--scale-factor', '2'],
  ];
  for (const [name = '', ...rest] of commands) {
    const argv = ['image', name, ...rest, '-o', `${name}.png`, '--interval', '200ms'];
    const { exit, stdout, stderr } = await startRegen(argv, { cwd, home, env }).ended;
    expect({ exit, stdout }, stderr).toEqual({ exit: 0, stdout: `${join(cwd, `${name}.png`)}\n` });
    expect(readFileSync(join(cwd, `${name}.png`)).equals(image)).toBe(true);
  }
});

test('a receipt has the seed and the credits, and a failed task prints its reason', async () => {
  const engine = createCopyingEngine(({ request }) => {
    if (request.style === 'clean') throw new EngineFailure('The image has no light.');
  });
  const { home, env } = await startCopyingService({ prices: { image: { relight: 3 } } }, engine);
  const cwd = createPhotos('photo.png');
  const relight = ['image', 'relight', 'photo.png', '-o', 'out.png', '--interval', '200ms', '--receipt'];
  const done = await startRegen(relight, { cwd, home, env }).ended;
  expect(done.exit, done.stderr).toBe(0);
  const receipt = JSON.parse(readFileSync(join(cwd, 'out.png.receipt.json'), 'utf8'));
  expect(receipt).toMatchObject({ credits: 3, seed: expect.any(Number) });
  const failed = await startRegen([...relight, '--style', 'clean', '--force'], { cwd, home, env }).ended;
  expect(failed.exit).toBe(6);
  expect(failed.stderr).toContain('failed: The image has no light.');
});

test('a loop without waiting, piped into task wait, leaves nothing but ids and URLs on stdout', async () => {
  const { home, env } = await startCopyingService();
  const cwd = createPhotos('a.png', 'b.png', 'c.png');
  const regen = `"${process.execPath}" "${entry}"`;
  const script = `for f in *.png; do ${regen} image relight "$f" --no-wait || exit; done | tee ids | xargs ${regen} task wait`;
  const run = promisify(execFile);
  const { stdout } = await run('sh', ['-c', script], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, ...env },
  });
  const ids = readFileSync(join(cwd, 'ids'), 'utf8').trim().split('\n');
  expect(ids).toHaveLength(3);
  const urls = stdout.trim().split('\n');
  expect(urls.map((url) => ids.findIndex((id) => url.includes(id)))).toEqual([0, 1, 2]);
  for (const url of urls) expect(URL.canParse(url)).toBe(true);
});

test('the first Ctrl-C leaves the task running and prints the command that resumes, with its flags', async () => {
  const double = await generationDoubleForTest({ states: ['CREATED', 'IN_PROGRESS'] });
  const cwd = createPhotos('photo.png');
  const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' };
  const terminal = startRegenInTerminal(['image', 'relight', 'photo.png', '-o', 'my out/', '--receipt'], {
    cwd,
    env,
  });
  await terminal.shows('running');
  terminal.type('\x03');
  expect(await terminal.exit).toBe(130);
  const [id] = double.tasks.keys();
  expect(terminal.screen().replace(/\s+/g, ' ')).toContain(
    `regen task wait ${id} --output 'my out/' --receipt`,
  );
});

test('a command that is killed before its response is repeated with the same key', async () => {
  let received = () => {};
  const arrived = new Promise<void>((done) => {
    received = done;
  });
  const double = await generationDoubleForTest({
    onStart: async (_, count) => {
      received();
      // The first one is never answered.
      if (count === 1) await new Promise(() => {});
      return true;
    },
  });
  const cwd = createPhotos('photo.png');
  const home = homeForTest();
  const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' };
  const argv = ['image', 'relight', 'photo.png', '-o', 'out.png'];
  const first = startRegen(argv, { cwd, home, env });
  await arrived;
  first.child.kill('SIGKILL');
  await first.ended;
  const { exit, stderr } = await startRegen(argv, { cwd, home, env }).ended;
  expect(exit, stderr).toBe(0);
  expect(double.tasks.size).toBe(1);
  expect(readFileSync(join(cwd, 'out.png')).equals(png)).toBe(true);
  expect(readdirSync(cwd).sort()).toEqual(['out.png', 'photo.png']);
});

test('a job keeps its key if its answer is lost and then the service cannot be reached', async () => {
  const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
  const sockets = new Set<Socket>();
  // The way to the service, at an address that stays the same.
  const way = createServer((socket) => {
    const onward = connect(Number(new URL(service.url).port), '127.0.0.1');
    const end = () => [socket, onward].map((one) => one.destroy());
    for (const one of [socket, onward]) sockets.add(one.on('error', end).on('close', end));
    socket.pipe(onward).pipe(socket);
  });
  let tasks = 0;
  watchWrites(service.context, (what) => {
    if (!what.includes('insert tasks')) return;
    tasks += 1;
    if (tasks !== 2) return;
    way.close();
    for (const socket of sockets) socket.destroy();
  });
  const listen = (port: number) => new Promise<void>((done) => way.listen(port, '127.0.0.1', done));
  await listen(0);
  onTestFinished(() => void way.close());
  const { port } = way.address() as AddressInfo;
  const cwd = createPhotos('photo.png');
  const line = (prompt: string) => JSON.stringify({ command: 'image relight', image: 'photo.png', prompt });
  writeFileSync(join(cwd, 'jobs.jsonl'), `${line('one')}\n${line('two')}\n`);
  const env = { REGEN_BASE_URL: `http://127.0.0.1:${port}`, REGEN_TOKEN: service.ownerToken };
  const surroundings = { cwd, home: homeForTest(), env };
  const batch = () => startRegen(['batch', 'jobs.jsonl', '--concurrency', '1'], surroundings).ended;
  expect((await batch()).exit).not.toBe(0);
  await listen(port);
  const { exit, stderr } = await batch();
  expect(exit, stderr).toBe(0);
  expect(tasks).toBe(2);
});

test('several images are processed in parallel, and a failed one does not affect the others', async () => {
  const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
  const cwd = createPhotos('a.png', 'b.png');
  writeFileSync(join(cwd, 'broken.png'), '\x89PNG, but nothing else');
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const argv = [
    'image',
    'upscaler',
    'a.png',
    'broken.png',
    'b.png',
    '-o',
    '{name}-large.{ext}',
    '--interval',
    '200ms',
  ];
  const { exit, stdout, stderr } = await startRegen(argv, { cwd, env }).ended;
  expect(exit).toBe(9);
  expect(stdout).toBe(`${join(cwd, 'a-large.png')}\n${join(cwd, 'b-large.png')}\n`);
  expect(stderr).toContain('2 of 3 saved');
  expect(stderr).toContain('broken.png failed: it must be an image');
  expect(existsSync(join(cwd, 'broken-large.png'))).toBe(false);
});
