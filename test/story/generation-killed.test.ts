import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, type Ran, regen, type Started, startRegen } from '../support/cli.js';
import {
  type DoubleOptions,
  type GenerationDouble,
  generationDoubleForTest,
  mp4,
  png,
} from '../support/generation-double.js';
import { interceptWrites } from '../support/intercept-writes.js';
import { folderForTest, serviceForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

const cases = {
  'image relight': { argv: ['image', 'relight', 'photo.png'], output: 'out.png', made: png },
  'video text2video': {
    argv: [
      'video',
      'text2video',
      'a boat',
      '--images',
      'photo.png',
      '--callback-url',
      'https://example.com/',
    ],
    output: 'out.mp4',
    made: mp4,
  },
};

test.each(Object.entries(cases))(
  '%s, killed before any of its writes and run again, leads to one task and one result',
  async (_, { argv, output, made }) => {
    const double = await generationDoubleForTest();
    const folders = { home: homeForTest(), cwd: folderForTest() };
    writeFileSync(join(folders.cwd, 'photo.png'), png);
    const save = ['-o', output, '--receipt'];
    const run = (words: readonly string[]) => {
      const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' };
      return regen(words, { ...folders, env, clock: { now: Date.now, sleep: async () => {} } });
    };

    // The disk of a killed process holds what another reads there at that moment: one run tells of all its deaths.
    const deaths: (() => void)[] = [];
    const end = interceptWrites(Object.values(folders), () => deaths.push(snapshotFolders(folders, double)));
    const first = await run([...argv, ...save]);
    end();
    expect(first.exit, first.stderr).toBe(0);
    // The ledger three times at least, the file and its receipt.
    expect(deaths.length).toBeGreaterThan(8);

    for (const [point, goBack] of deaths.entries()) {
      goBack();
      const second = await run([...argv, ...save]);
      expect(second.exit, `${point}: ${second.stderr}`).toBe(0);
      expect({ point, tasks: double.tasks.size }).toEqual({ point, tasks: 1 });
      expect(readFileSync(join(folders.cwd, output)).equals(made)).toBe(true);
      const files = readdirSync(folders.cwd).filter((name) => !name.endsWith('.part'));
      expect(files.sort()).toEqual([output, `${output}.receipt.json`, 'photo.png']);
      expect(JSON.parse((await run(['task', 'list', '--json'])).stdout)).toHaveLength(1);
    }
  },
);

/** Keeps what lies in folders and what a service knows; @returns what brings that back. */
function snapshotFolders(folders: Readonly<Record<string, string>>, double: GenerationDouble): () => void {
  const copy = folderForTest();
  for (const [name, folder] of Object.entries(folders)) cpSync(folder, join(copy, name), { recursive: true });
  const forget = double.remember();
  return () => {
    for (const [name, folder] of Object.entries(folders)) {
      rmSync(folder, { recursive: true });
      cpSync(join(copy, name), folder, { recursive: true });
    }
    forget();
  };
}

/** The same HOME, folder and service for each process. */
async function createDesk(options: DoubleOptions = {}) {
  const double = await generationDoubleForTest(options);
  const folders = { home: homeForTest(), cwd: folderForTest() };
  for (const name of ['a.png', 'b.png', 'c.png']) {
    writeFileSync(join(folders.cwd, name), Buffer.concat([png, Buffer.from(name)]));
  }
  const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret', REGEN_NO_AUTOSTART: '1' };
  const begin = (...words: string[]): Started => startRegen(words, { ...folders, env });
  const run = (...words: string[]): Promise<Ran> => begin(...words).ended;
  return { double, cwd: folders.cwd, begin, run };
}

/** Kills a process once it has said so. */
async function killAfter({ child, said, ended }: Started, words: string): Promise<void> {
  await waitFor(() => expect(said()).toContain(words));
  child.kill('SIGKILL');
  expect((await ended).exit).toBe(137);
}

const relight = ['image', 'relight', 'a.png', '--prompt', 'x'];
const waiting = { states: ['CREATED', 'IN_PROGRESS'] };

test('a command that is killed while it waits goes on with its task when it is run again, and pays once', async () => {
  const { double, cwd, begin, run } = await createDesk(waiting);
  for (let round = 0; round < 3; round += 1)
    await killAfter(begin(...relight, '-o', 'r.png'), 'Relighting the image');
  double.endAll();
  const last = await run(...relight, '-o', 'r.png');
  expect(last).toMatchObject({ exit: 0, stdout: `${join(cwd, 'r.png')}\n` });
  expect(last.stderr).toContain('Pass --again to start over.');
  expect(double.tasks.size).toBe(1);
  // That one ended normally: what follows is a new job.
  expect((await run(...relight, '-o', 'again.png')).exit).toBe(0);
  expect(double.tasks.size).toBe(2);
});

test('--again starts a new task beside the unfinished one', async () => {
  const { double, begin, run } = await createDesk(waiting);
  await killAfter(begin(...relight), 'Relighting the image');
  double.endAll();
  expect((await run(...relight, '--again')).exit).toBe(0);
  expect(double.tasks.size).toBe(2);
});

test('a command that gave up waiting is taken up by the same command, under another output', async () => {
  const { double, cwd, run } = await createDesk(waiting);
  expect((await run(...relight, '--timeout', '1s')).exit).toBe(8);
  double.endAll();
  expect(await run(...relight, '-o', 'late.png')).toMatchObject({
    exit: 0,
    stdout: `${join(cwd, 'late.png')}\n`,
  });
  expect(double.tasks.size).toBe(1);
});

test('no image of a killed command is paid for twice, finished or not', async () => {
  const { double, cwd, begin, run } = await createDesk({ stuck: (_, count) => count === 2 });
  const all = ['image', 'relight', 'a.png', 'b.png', 'c.png', '-o', 'out/'];
  const first = begin(...all);
  await waitFor(() => expect(first.said().match(/Saved /g)).toHaveLength(2));
  await killAfter(first, 'Saved ');
  double.endAll();
  expect((await run(...all)).exit).toBe(0);
  expect(double.tasks.size).toBe(3);
  expect(readdirSync(join(cwd, 'out')).filter((name) => name.endsWith('.png'))).toHaveLength(3);
});

test('an interrupted command with images that were not sent says to run it again, which sends only those', async () => {
  const { double, begin, cwd } = await createDesk({ stuck: () => true });
  const names = Array.from({ length: 6 }, (_, at) => `${at}.png`);
  for (const name of names) writeFileSync(join(cwd, name), Buffer.concat([png, Buffer.from(name)]));
  const all = ['image', 'relight', ...names, '-o', 'out/'];
  const first = begin(...all);
  await waitFor(() => expect(double.tasks.size).toBe(4));
  await waitFor(() => expect(first.said().match(/^Task /gm)).toHaveLength(4));
  first.child.kill('SIGINT');
  const { exit, stderr } = await first.ended;
  expect([exit, stderr]).toEqual([130, expect.stringContaining('Run the same command again to continue')]);
  expect(stderr).not.toContain('regen task wait');
  double.endAll();
  const second = begin(...all);
  await waitFor(() => expect(double.tasks.size).toBe(6));
  double.endAll();
  expect((await second.ended).exit).toBe(0);
  expect(double.tasks.size).toBe(6);
});

test('a command that failed in part pays only for the rest when it is run again', async () => {
  const service = await serviceForTest({ prices: { image: { upscaler: 3 } } });
  const cwd = folderForTest();
  for (const name of ['a.png', 'b.png']) writeFileSync(join(cwd, name), png);
  writeFileSync(join(cwd, 'late.png'), '\x89PNG, but nothing else');
  const surroundings = {
    ...{ cwd, home: homeForTest() },
    env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken },
  };
  const upscale = ['image', 'upscaler', 'late.png', 'a.png', 'b.png', '-o', 'out/', '--max-credits'];
  const run = (most: string) => startRegen([...upscale, most], surroundings).ended;
  const countCredits = async () =>
    JSON.parse((await startRegen(['usage', '--json'], surroundings).ended).stdout).credits;
  const first = await run('9');
  expect(first.stderr).toContain('Costs 9 credits in total');
  expect([first.exit, first.stderr]).toEqual([
    9,
    expect.stringContaining('Run the same command again to retry what failed'),
  ]);
  expect(await countCredits()).toBe(6);
  // The bytes of other images do not make their results those of this one.
  writeFileSync(join(cwd, 'late.png'), png);
  const tooDear = await run('2');
  expect([tooDear.exit, tooDear.stderr]).toEqual([
    2,
    expect.stringContaining('The rest costs 3 credits, more than --max-credits 2.'),
  ]);
  const second = await run('3');
  expect(second.exit, second.stderr).toBe(0);
  expect(second.stderr).toContain('The rest costs 3 credits');
  expect(await countCredits()).toBe(9);
  const { stdout } = await startRegen(['task', 'list', '--jq', 'map(.credits) | sort'], surroundings).ended;
  expect(JSON.parse(stdout)).toEqual([3, 3, 3]);
  expect(readdirSync(join(cwd, 'out')).sort()).toEqual(['a.png', 'b.png', 'late.png']);
});

test('what is left costs at most the price of all that got no response, in a dry run, too', async () => {
  const prices = { video_per_second: {}, image: { relight: 10 }, is_rec: 10, off_peak: 0.5 };
  const { double, begin, run } = await createDesk({
    prices,
    onStart: (_, count) => count !== 2,
  });
  const words = ['image', 'relight', 'a.png', 'b.png', 'c.png', '--prompt', 'x'];
  expect((await begin(...words).ended).exit).toBe(9);
  const preview = await run(...words, '--dry-run');
  expect(preview.stderr).toContain('1 of 3 jobs left: at most 10 credits in total.');
  const second = await run(...words);
  expect(second.exit, second.stderr).toBe(0);
  expect(second.stderr).toContain('The rest costs at most 10 credits');
  expect(double.tasks.size).toBe(3);
});

test('a task that its service does not show to this credential is not started again without --again', async () => {
  const { double, begin, run } = await createDesk(waiting);
  await killAfter(begin(...relight), 'Relighting the image');
  const hidden = [...double.tasks];
  double.tasks.clear();
  for (const words of [[], ['--no-wait'], ['--max-credits', '5']]) {
    const { exit, stdout, stderr } = await run(...relight, ...words);
    expect([exit, stdout], stderr).toEqual([3, '']);
    expect(stderr).toMatch(/The task \S+ of an earlier run is not shown to this credential/);
    expect(stderr).toContain('To start a new task, which is paid for again, pass --again.');
  }
  expect((await run('task', 'wait', '--all')).stderr).toContain('skipped it');
  expect(double.tasks.size).toBe(0);
  // With the credential that started it, it goes on.
  for (const [id, task] of hidden) double.tasks.set(id, task);
  double.endAll();
  const resumed = await run(...relight);
  expect([resumed.exit, double.tasks.size], resumed.stderr).toEqual([0, 1]);
  const again = begin(...relight, '--again');
  await waitFor(() => expect(double.tasks.size).toBe(2));
  double.endAll();
  expect((await again.ended).exit).toBe(0);
});

test('identical commands at the same time are different jobs, and so are those that follow --no-wait', async () => {
  const { double, run } = await createDesk();
  const boat = ['video', 'text2video', 'a paper boat', '--no-wait'];
  const ids = await Promise.all(Array.from({ length: 8 }, () => run(...boat)));
  expect(ids.map(({ exit }) => exit)).toEqual(Array(8).fill(0));
  expect(new Set(ids.map(({ stdout }) => stdout)).size).toBe(8);
  expect(double.tasks.size).toBe(8);
  expect((await run(...boat)).exit).toBe(0);
  expect(double.tasks.size).toBe(9);
});

test('each of several killed commands is taken up once by as many that run at the same time', async () => {
  const { double, begin, run } = await createDesk(waiting);
  const first = [1, 2, 3].map(() => begin(...relight));
  await Promise.all(first.map((one) => killAfter(one, 'Relighting the image')));
  double.endAll();
  const second = await Promise.all([1, 2, 3, 4].map(() => run(...relight)));
  expect(second.map(({ exit }) => exit)).toEqual([0, 0, 0, 0]);
  expect(new Set(second.map(({ stdout }) => stdout)).size).toBe(4);
  expect(double.tasks.size).toBe(4);
});
