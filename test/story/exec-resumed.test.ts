import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entry, homeForTest, startRegen } from '../support/cli.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { pixel } from '../support/generation.js';
import { filesForTest } from '../support/packs.js';
import { ask, serviceForTest } from '../support/service.js';

/** A service whose images are done when `release` is called, and a folder with one. */
async function createPlace() {
  let release = () => {};
  const released = new Promise<void>((done) => {
    release = done;
  });
  const engines = { image: createCopyingEngine(() => released) };
  const { url, ownerToken: token } = await serviceForTest(
    { prices: { image: { relight: 30 } } },
    { engines },
  );
  const cwd = filesForTest({ 'one.png': Buffer.from(pixel, 'base64') });
  const surroundings = { home: homeForTest(), cwd, env: { REGEN_BASE_URL: url, REGEN_TOKEN: token } };
  const run = (...words: string[]) => startRegen(words, surroundings).ended;
  const runWithKey = (...words: string[]) =>
    run('exec', '--credits', '50', '--', process.execPath, entry, ...words);
  const countCredits = async () => (await ask(`${url}/users/usage`, { token })).body.credits;
  return { cwd, run, runWithKey, countCredits, release, url };
}

const relight = ['image', 'relight', 'one.png', '-o', 'r.png', '--timeout', '1s'];

test('a command with a key of regen exec goes on with its task in the next run, and pays once', async () => {
  const { cwd, run, runWithKey, countCredits, release } = await createPlace();
  const first = await runWithKey(...relight);
  expect(first.exit, first.stderr).toBe(8);
  expect(first.stderr).toContain('1 task cost 30 of 50 credits.');
  const second = await runWithKey(...relight);
  expect(second.exit, second.stderr).toBe(8);
  expect(second.stderr).toContain('it is not paid for again');
  release();
  const last = await runWithKey(...relight);
  expect([last.exit, last.stdout], last.stderr).toEqual([0, `${join(cwd, 'r.png')}\n`]);
  expect(readFileSync(join(cwd, 'r.png')).equals(Buffer.from(pixel, 'base64'))).toBe(true);
  expect(await countCredits()).toBe(30);
  const { stdout } = await run('task', 'list', '--jq', 'length');
  expect(stdout).toBe('1\n');
});

test('a batch with a key of regen exec goes on with its tasks in the next run, and pays once', async () => {
  const { cwd, runWithKey, countCredits, release } = await createPlace();
  writeFileSync(join(cwd, 'jobs.jsonl'), '{"command":"image relight","id":"a","image":"one.png"}\n');
  const batch = ['batch', 'jobs.jsonl', '-o', 'out/{id}.{ext}', '--max-credits', '50', '--timeout', '1s'];
  const first = await runWithKey(...batch);
  expect(first.exit, first.stderr).toBe(8);
  release();
  const second = await runWithKey(...batch);
  expect(second.exit, second.stderr).toBe(0);
  expect(await countCredits()).toBe(30);
});

test('a task that its user started and left unfinished is not started again with a key, and its user goes on with it', async () => {
  const { run, runWithKey, countCredits, release } = await createPlace();
  const own = await run(...relight);
  expect(own.exit, own.stderr).toBe(8);
  const withKey = await runWithKey(...relight);
  expect([withKey.exit, withKey.stderr]).toEqual([
    3,
    expect.stringContaining('is not shown to this credential: another one started it'),
  ]);
  release();
  const last = await run(...relight);
  expect(last.exit, last.stderr).toBe(0);
  expect(await countCredits()).toBe(30);
});

test('a script with a key of regen exec that failed in a later step does not pay again for the steps before', async () => {
  const { cwd, run, countCredits, release } = await createPlace();
  release();
  writeFileSync(join(cwd, 'two.png'), Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.from('two')]));
  const regen = `"${process.execPath}" "${entry}"`;
  const steps = [
    `${regen} image relight one.png --prompt later --no-wait\n${regen} image relight one.png two.png -o made/`,
    `${regen} image relight made/*.png --prompt again -o end/`,
  ];
  writeFileSync(join(cwd, 'steps.sh'), `set -e\n${steps[0]}\n[ -e ready ]\n${steps[1]}\n`);
  const runScript = () => run('exec', '--credits', '200', '--', 'sh', 'steps.sh');
  for (let round = 0; round < 2; round += 1) {
    const first = await runScript();
    expect(first.exit, first.stderr).toBe(1);
    expect(await countCredits()).toBe(90);
    expect(readdirSync(join(cwd, 'made')).sort()).toEqual(['one.png', 'two.png']);
  }
  writeFileSync(join(cwd, 'ready'), '');
  const last = await runScript();
  expect(last.exit, last.stderr).toBe(0);
  expect(await countCredits()).toBe(150);
  expect(readdirSync(join(cwd, 'end')).sort()).toEqual(['one.png', 'two.png']);
  // It succeeded: what follows is another run.
  expect((await runScript()).exit).toBe(0);
  expect(await countCredits()).toBe(300);
});

test('tasks of a program with a key are those of the profile that ran it', async () => {
  const { run, url, release } = await createPlace();
  release();
  expect((await run('config', 'set', 'profiles.paid.base_url', url)).exit).toBe(0);
  const ran = await run(
    'exec',
    '--profile',
    'paid',
    '--credits',
    '50',
    '--',
    process.execPath,
    entry,
    ...relight,
  );
  expect(ran.exit, ran.stderr).toBe(0);
  const { stdout } = await run('task', 'list', '--jq', '.[0].profile');
  expect(stdout).toBe('paid\n');
});
