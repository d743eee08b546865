import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { claimJobs } from '../../../src/service/queue/leases.js';
import type { JobHandler, Queue } from '../../../src/service/queue/queue.js';
import { RunAgain } from '../../../src/service/queue/queue.js';
import {
  clock,
  createHeldWork,
  createQueue,
  database,
  enqueueJob,
  logged,
  readJobs,
  startQueue,
  useLeasedTable,
  waitUntilEmpty,
} from '../../support/leased-table.js';
import { testDatabase } from '../../support/postgres.js';
import { listPlans, observeReads } from '../../support/query-plans.js';
import { waitFor } from '../../support/wait-for.js';

useLeasedTable();

describe('the queue', () => {
  it('takes a transaction to claim a job and one to end it, and none to find that no other is due', async () => {
    const one = createQueue({ pollMs: 60_000_000 });
    const begun = vi.spyOn(database, 'transaction');
    onTestFinished(() => begun.mockRestore());
    await enqueueJob(one, { kind: 'greet', key: 'a' });
    startQueue(one, { greet: async () => {} });
    await waitUntilEmpty();
    // With the look after its end.
    await one.stop(1_000);
    // Two recover the queue at its start; the others enqueue, claim and end the job.
    expect(begun).toHaveBeenCalledTimes(5);
  });

  it('does not run jobs of a transaction that is rolled back', async () => {
    const done: string[] = [];
    const one = createQueue();
    startQueue(one, { greet: async ({ key }) => void done.push(key) });
    await expect(
      database.transaction().execute(async (tx) => {
        await one.enqueue(tx, { kind: 'greet', key: 'never', owner: 'ann' });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await enqueueJob(one, { kind: 'greet', key: 'after' });
    await waitUntilEmpty();
    expect(done).toEqual(['after']);
  });

  it('keeps one job per kind and key, due at the time of its last enqueuing', async () => {
    const one = createQueue();
    await enqueueJob(one, { kind: 'greet', key: 'a' });
    await enqueueJob(one, { kind: 'greet', key: 'a', runAt: clock.now + 1_000 });
    await enqueueJob(one, { kind: 'part', key: 'a' });
    expect((await readJobs()).map(({ kind, run_at }) => [kind, Date.parse(run_at)])).toEqual([
      ['greet', clock.now + 1_000],
      ['part', 0],
    ]);
  });

  it('runs immediate jobs and retries even if the clock went back', async () => {
    const done: string[] = [];
    const first = createQueue();
    startQueue(first, { retried: () => Promise.reject(new Error('not yet')) });
    await enqueueJob(first, { kind: 'retried', key: 'a' });
    await waitFor(async () => expect((await readJobs())[0]?.last_error).toContain('not yet'));
    await first.stop(1_000);
    await enqueueJob(first, { kind: 'greet', key: 'b' });
    await enqueueJob(first, { kind: 'later', key: 'c', runAt: clock.now + 24 * 3_600_000 });
    clock.now -= 2 * 3_600_000;
    const note: JobHandler = async ({ kind }) => void done.push(kind);
    startQueue(createQueue({ instance: 'two' }), { retried: note, greet: note, later: note });
    await waitFor(() => expect(done.sort()).toEqual(['greet', 'retried']));
    await waitFor(async () => expect(await readJobs()).toHaveLength(1));
    expect(Date.parse((await readJobs())[0]?.run_at as string)).toBe(clock.now + 24 * 3_600_000);
  });

  it('waits until a job is due', async () => {
    const done: string[] = [];
    const one = createQueue();
    startQueue(one, { greet: async ({ key }) => void done.push(key) });
    await enqueueJob(one, { kind: 'greet', key: 'later', runAt: clock.now + 60_000 });
    await enqueueJob(one, { kind: 'greet', key: 'now' });
    await waitFor(async () => expect(await readJobs()).toMatchObject([{ key: 'later' }]));
    expect(done).toEqual(['now']);
    clock.now += 60_000;
    await waitUntilEmpty();
    expect(done).toEqual(['now', 'later']);
  });

  it('runs as many jobs of one kind in parallel as allowed, and other kinds beside them', async () => {
    const { work, begun, finish } = createHeldWork();
    const done: string[] = [];
    const one = createQueue();
    startQueue(one, { wait: work, greet: async ({ key }) => void done.push(key) });
    for (const key of ['a', 'b', 'c']) await enqueueJob(one, { kind: 'wait', key });
    await waitFor(() => expect(begun).toHaveLength(2));
    await enqueueJob(one, { kind: 'greet', key: 'quick' });
    await waitFor(() => expect(done).toEqual(['quick']));
    expect(begun).toHaveLength(2);
    finish();
    await waitUntilEmpty();
    expect(begun).toHaveLength(3);
  });

  it('retries a failing job after growing pauses, and keeps its last error', async () => {
    const pauses: number[] = [];
    const attempts: number[] = [];
    const one = createQueue();
    startQueue(one, {
      fail: async ({ attempts: before }) => {
        attempts.push(before);
        if (before < 4) throw new Error(`failure ${before}`);
      },
    });
    await enqueueJob(one, { kind: 'fail', key: 'a' });
    for (const before of [0, 1, 2, 3]) {
      await waitFor(async () => {
        const [job] = await readJobs();
        expect(job?.last_error).toBe(`Error: failure ${before}`);
        pauses[before] = Date.parse(job?.run_at as string) - clock.now;
      });
      clock.now += pauses[before] as number;
    }
    await waitUntilEmpty();
    expect(attempts).toEqual([0, 1, 2, 3, 4]);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(500 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(1_000 * 2 ** index);
    }
    expect(logged).toHaveLength(4);
  });

  it('runs a job once more if it is enqueued again while it runs, one run after the other', async () => {
    let running = 0;
    let most = 0;
    const gates: (() => void)[] = [];
    const one = createQueue();
    startQueue(one, {
      wait: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => gates.push(resolve));
        running -= 1;
      },
    });
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    await waitFor(() => expect(gates).toHaveLength(1));
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    gates[0]?.();
    await waitFor(() => expect(gates).toHaveLength(2));
    gates[1]?.();
    await waitUntilEmpty();
    expect(most).toBe(1);
  });

  it('runs a job that was enqueued again while it ran at once, also if that run fails after many others', async () => {
    const one = createQueue();
    const attempts: number[] = [];
    let fail = () => {};
    startQueue(one, {
      look: async ({ attempts: before }) => {
        attempts.push(before);
        if (attempts.length > 1) return;
        await new Promise<void>((_, reject) => {
          fail = () => reject(new Error('away'));
        });
      },
    });
    await enqueueJob(one, { kind: 'look', key: 'a', runAt: clock.now + 1_000 });
    await database.transaction().execute((tx) => tx.updateTable('jobs').set({ attempts: 9 }).execute());
    clock.now += 1_000;
    await waitFor(() => expect(attempts).toEqual([9]));
    await database.transaction().execute((tx) => one.bringForward(tx, { kind: 'look', key: 'a' }));
    fail();
    await waitUntilEmpty();
    expect(attempts).toEqual([9, 0]);
  });

  it('knows whether a job is running or due', async () => {
    const { work, begun, finish } = createHeldWork();
    const one = createQueue();
    expect(await one.hasWorkBy(clock.now)).toBe(false);
    await enqueueJob(one, { kind: 'wait', key: 'a', runAt: clock.now + 1_000 });
    expect(await one.hasWorkBy(clock.now + 999)).toBe(false);
    expect(await one.hasWorkBy(clock.now + 1_000)).toBe(true);
    clock.now += 1_000;
    startQueue(one, { wait: work });
    await waitFor(() => expect(begun).toHaveLength(1));
    expect(await one.hasWorkBy(0)).toBe(true);
    finish();
    await waitUntilEmpty();
    await waitFor(async () => expect(await one.hasWorkBy(clock.now + 1_000_000)).toBe(false));
  });

  it('runs a job again at the time that it asks for, which does not count as a failed attempt', async () => {
    const seen: number[] = [];
    const one = createQueue();
    startQueue(one, {
      look: async ({ attempts }) => {
        seen.push(attempts);
        if (seen.length < 3) throw new RunAgain(clock.now + 30_000);
      },
    });
    await enqueueJob(one, { kind: 'look', key: 'a' });
    for (const looks of [1, 2]) {
      await waitFor(async () =>
        expect((await readJobs())[0]?.run_at).toBe(new Date(clock.now + 30_000).toISOString()),
      );
      expect([seen.length, (await readJobs())[0]?.leased_by]).toEqual([looks, null]);
      clock.now += 30_000;
    }
    await waitUntilEmpty();
    expect(seen).toEqual([0, 0, 0]);
    expect(logged).toEqual([]);
  });

  it('brings a job forward that waits, and makes none', async () => {
    const done: string[] = [];
    const one = createQueue({ pollMs: 60_000_000 });
    startQueue(one, { look: async ({ key }) => void done.push(key) });
    await enqueueJob(one, { kind: 'look', key: 'a', runAt: clock.now + 1_000_000_000 });
    await database.transaction().execute(async (tx) => {
      for (const key of ['a', 'b']) await one.bringForward(tx, { kind: 'look', key });
    });
    await waitUntilEmpty();
    expect(done).toEqual(['a']);
  });

  it('limits a kind in all processes together, with the jobs of another kind that wait', async () => {
    const { work, begun, finish } = createHeldWork();
    const limited = { start: { run: work, atOnce: 3, sharesWith: 'watch' } };
    const [one, two] = ['one', 'two'].map((instance) => createQueue({ instance, alone: false }));
    await enqueueJob(one as Queue, { kind: 'watch', key: 'w', runAt: clock.now + 1_000_000 });
    for (const key of ['a', 'b', 'c', 'd']) await enqueueJob(one as Queue, { kind: 'start', key });
    for (const worker of [one, two]) worker?.start(limited);
    await waitFor(() => expect(begun).toHaveLength(2));
    const leased = (await readJobs()).filter(({ leased_by }) => leased_by !== null);
    expect(leased).toHaveLength(2);
    finish();
    await waitFor(() => expect(begun).toHaveLength(4));
  });

  it('leaves unknown kinds to other processes', async () => {
    const one = createQueue();
    startQueue(one, { greet: async () => {} });
    await enqueueJob(one, { kind: 'foreign', key: 'a' });
    await enqueueJob(one, { kind: 'greet', key: 'a' });
    await waitFor(async () => expect((await readJobs()).map(({ kind }) => kind)).toEqual(['foreign']));
  });
});

it.skipIf(testDatabase)(
  'finds the next job by indexes, however many wait or are scheduled for later',
  async () => {
    const made = createQueue();
    await database.transaction().execute(async (tx) => {
      for (let at = 0; at < 300; at += 1) {
        const runAt = at % 3 ? clock.now + 60_000 : clock.now;
        await made.enqueue(tx, { kind: at % 2 ? 'a' : 'b', key: `k${at}`, owner: `o${at % 5}`, runAt });
      }
    });
    const plans = await listPlans(database, () =>
      claimJobs(
        { database, now: () => clock.now, instance: 'one' },
        { kinds: ['a', 'b'], free: { a: 1, b: 1 }, running: [] },
      ),
    );
    const reads = plans.filter((plan) => /jobs|waiting|ready|own\b|running/.test(plan));
    expect(reads.length).toBeGreaterThan(5);
    // The index of the unique kind and key would find all jobs of a kind.
    for (const plan of reads) expect(plan).toMatch(/USING (COVERING )?INDEX (jobs_|sqlite_autoindex_jobs_1)/);
  },
);

it.skipIf(testDatabase)('looks once for jobs that are due, however many kinds there are', async () => {
  const made = createQueue();
  const kinds = Array.from({ length: 12 }, (_, at) => `kind-${at}`);
  await enqueueJob(made, { kind: 'kind-3', key: 'later', runAt: clock.now + 60_000 });
  const free = Object.fromEntries(kinds.map((kind) => [kind, 1]));
  const holder = { database, now: () => clock.now, instance: 'one' };
  const options = { kinds, free, running: [] };
  const { queries } = await observeReads(database, () => claimJobs(holder, options));
  expect(queries).toBe(1);
  clock.now += 60_000;
  expect((await claimJobs(holder, options)).map(({ key }) => key)).toEqual(['later']);
});
