import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeLock } from '../../../src/disk/lock.js';
import { getOwnIdentity } from '../../../src/disk/process-identity.js';
import { Ledger } from '../../../src/flows/tasks/ledger.js';
import { generationDeskForTest, startedTaskForTest } from '../../support/generation-desk.js';
import { png } from '../../support/generation-double.js';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'regen-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const DRAFT = { service: 'local', operation: 'image.relight', request: {}, name: 'cat' };
const DAY_MS = 24 * 60 * 60_000;

it('a job of a batch removes entries older than 90 days', async () => {
  const folder = createFolder();
  const open = (now: number) =>
    new Ledger(folder, () => now, getOwnIdentity(), folder).open(DRAFT, { known: undefined });
  const { entry: old } = await open(Date.now() - 91 * DAY_MS);
  const { entry } = await open(Date.now());
  const ids = [...new Ledger(folder, Date.now, getOwnIdentity(), folder).entries()].map(({ id }) => id);
  expect(ids).toEqual([entry.id]);
  expect(ids).not.toContain(old.id);
});

it('concurrent changes of an entry by two processes are all kept', async () => {
  const folder = createFolder();
  const ledger = new Ledger(folder, Date.now, getOwnIdentity(), folder);
  const { entry } = await ledger.open(DRAFT, 'new');
  const count = (field: string) =>
    promisify(execFile)(process.execPath, ['dist/test/ledger-process.js', folder, entry.id, field, '100']);
  const [credits, seed] = await Promise.all([count('credits'), count('seed')]);
  expect([credits.stdout, seed.stdout]).toEqual(['0', '0']);
  expect(ledger.read(entry.id)).toMatchObject({ credits: 100, seed: 100 });
});

it.each([
  ['another process does not release the lock', (path: string) => takeLock(path, 0)],
  ['the lock cannot be opened', (path: string) => void mkdirSync(path)],
])('a change is written even if %s', async (_, block) => {
  const folder = createFolder();
  const ledger = new Ledger(folder, Date.now, getOwnIdentity(), folder, 50);
  const { entry } = await ledger.open(DRAFT, 'new');
  const lock = block(join(folder, 'tasks.lock'));
  onTestFinished(() => lock?.release());
  await ledger.change(entry.id, { task_id: 'task-1' });
  expect(ledger.read(entry.id)).toMatchObject({ task_id: 'task-1' });
});

/** A double, a folder with two photos, and one HOME for all commands of the test. */
const relight = ['image', 'relight', 'photo.png'];

describe('the ledger', () => {
  it('keeps one private file a task, with references in place of images and no credential', async () => {
    const { double, cwd, run, ledgerFolder, readEntries } = await generationDeskForTest();
    await run([...relight, '--style', 'clean']);
    const [name] = readdirSync(ledgerFolder);
    expect(statSync(join(ledgerFolder, name as string)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(ledgerFolder, name as string), 'utf8')).not.toContain('secret');
    expect(readEntries()).toEqual([
      {
        id: name?.replace('.json', ''),
        idempotency_key: double.asked[0]?.key,
        created_at: expect.any(String),
        service: double.url,
        operation: 'image.relight',
        request: {
          style: 'clean',
          image: {
            file: join(cwd, 'photo.png'),
            bytes: png.length,
            sha256: createHash('sha256').update(png).digest('hex'),
          },
        },
        name: 'photo',
        task_id: [...double.tasks.keys()][0],
        state: 'COMPLETED',
        outputs: [expect.any(String)],
        owner: { host: hostname(), pid: process.pid, started: expect.any(String), seen: expect.any(Number) },
        closed: true,
      },
    ]);
  });

  it('is written before the request is sent', async () => {
    let before: unknown[] = [];
    const { run, readEntries } = await generationDeskForTest({
      onStart: () => {
        before = readEntries();
        return true;
      },
    });
    await run(relight);
    expect(before).toMatchObject([{ operation: 'image.relight', idempotency_key: expect.any(String) }]);
    expect(before[0]).not.toHaveProperty('task_id');
  });

  it('lets a repeat of an unanswered request use its key, so that there is one task', async () => {
    const { double, run, readEntries } = await generationDeskForTest({ onStart: (_, count) => count > 1 });
    const lost = await run(relight);
    expect(lost).toMatchObject({ exit: 7, stdout: '' });
    const again = await run(relight);
    expect(again.exit, again.stderr).toBe(0);
    expect(again.stderr).toContain('got no response');
    expect(double.tasks.size).toBe(1);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(1);
    expect(readEntries()).toHaveLength(1);
    // It is answered now: the next one is another task.
    await run(relight);
    expect(double.tasks.size).toBe(2);
  });

  it('repeats a request while the service still processes it', async () => {
    const busy = { status: 409, error: 'idempotency_in_flight' };
    const { double, run } = await generationDeskForTest({
      refuse: (count) => (count < 3 ? busy : undefined),
    });
    expect((await run(relight)).exit).toBe(0);
    expect(double.asked).toHaveLength(3);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(1);
  });

  it('keeps the key of a request that the service still processes after the last attempt', async () => {
    const busy = { status: 409, error: 'idempotency_in_flight', retryAfter: 0 };
    let isBusy = true;
    const { double, run, readEntries } = await generationDeskForTest({
      refuse: () => (isBusy ? busy : undefined),
    });
    const first = await run(relight);
    expect(first.exit, first.stderr).toBe(7);
    isBusy = false;
    expect(readEntries()).toHaveLength(1);
    expect((await run(relight)).exit).toBe(0);
    expect(double.tasks.size).toBe(1);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(1);
  });

  it('keeps the key of a request at which the service failed', async () => {
    const broken = { status: 500, error: 'internal' };
    const { double, run, readEntries } = await generationDeskForTest({
      refuse: (count) => (count < 2 ? broken : undefined),
    });
    expect((await run(relight)).exit).toBe(7);
    expect(readEntries()).toHaveLength(1);
    expect((await run(relight)).exit).toBe(0);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(1);
  });

  it('does not repeat a request older than a day, and prints the reason', async () => {
    const { double, run, readEntries, ledgerFolder } = await generationDeskForTest({
      onStart: (_, count) => count > 1,
    });
    await run(relight);
    const [entry] = readEntries();
    const old = { ...entry, created_at: new Date(Date.now() - 25 * 3_600_000).toISOString() };
    writeFileSync(join(ledgerFolder, `${entry.id}.json`), JSON.stringify(old), { mode: 0o600 });
    const again = await run(relight);
    expect(again.exit).toBe(0);
    expect(again.stderr).toContain(`got no response (${entry.id})`);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(2);
  });

  it('removes the entry of a request that the service refused', async () => {
    const { run, readEntries } = await generationDeskForTest({ extensions: false });
    expect((await run(['image', 'upscaler', 'photo.png'])).exit).toBe(3);
    expect(readEntries()).toEqual([]);
  });

  it('removes the entry of a request that the service cannot carry out, also after a lost response', async () => {
    const unable = { status: 501, error: 'not_supported', message: 'It has no node class FilmGrain.' };
    const { double, run, readEntries } = await generationDeskForTest({
      onStart: () => false,
      refuse: (count) => (count > 1 ? unable : undefined),
    });
    expect((await run(relight)).exit).toBe(7);
    expect(readEntries()).toHaveLength(1);
    const refused = await run(relight);
    expect([refused.exit, refused.stderr]).toEqual([
      6,
      expect.stringContaining(
        'error: It has no node class FilmGrain.\nhint: Ask the operator of the service',
      ),
    ]);
    expect(readEntries()).toEqual([]);
    expect((await run(relight)).stderr).not.toContain('Repeating');
    expect(double.asked).toHaveLength(3);
  });

  it('makes two tasks of the same image given twice', async () => {
    const { double, run } = await generationDeskForTest();
    await run(['image', 'relight', 'photo.png', 'photo.png', '--no-wait']);
    expect(double.tasks.size).toBe(2);
  });
});

it('entries older than 90 days are removed when a task is started', async () => {
  const { run, home } = await startedTaskForTest();
  const folder = join(home, '.local/state/regen/tasks');
  const aged = (days: number) => `${(Date.now() - days * 86_400_000).toString(36)}-abc-def.json`;
  for (const days of [89, 91]) writeFileSync(join(folder, aged(days)), '{}');
  await run(['task', 'list']);
  expect(readdirSync(folder)).toHaveLength(3);
  await run(['image', 'relight', 'photo.png', '--no-wait']);
  expect(readdirSync(folder)).toHaveLength(3);
  expect(readdirSync(folder).some((name) => name.startsWith(aged(91).slice(0, 5)))).toBe(false);
});

it('a file in the ledger that is not an entry is ignored', async () => {
  const { run, home } = await startedTaskForTest();
  const folder = join(home, '.local/state/regen/tasks');
  writeFileSync(join(folder, '1-a-b.json'), '{ torn');
  writeFileSync(join(folder, '2-a-b.json'), 'null');
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  const { exit, stdout } = await run(['task', 'list']);
  expect({ exit, lines: stdout.trim().split('\n').length }).toEqual({ exit: 0, lines: 1 });
  expect(existsSync(join(folder, 'notes.txt'))).toBe(true);
  expect(readdirSync(folder)).toHaveLength(4);
});
