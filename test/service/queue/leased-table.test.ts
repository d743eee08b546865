import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Database } from '../../../src/service/database/database.js';
import { Notices } from '../../../src/service/database/notices.js';
import { createLeasedTable, type LeasedTableOptions } from '../../../src/service/queue/leased-table.js';
import { claimJobs } from '../../../src/service/queue/leases.js';
import {
  type Job,
  type JobHandler,
  type JobKind,
  type NewJob,
  type Queue,
  RunAgain,
} from '../../../src/service/queue/queue.js';

import { openTestDatabase, testDatabase } from '../../support/postgres.js';
import { listPlans, observeReads } from '../../support/query-plans.js';
import { waitFor } from '../../support/wait-for.js';

let folder: string;
let database: Database;
let notices: Notices | undefined;
let queues: Queue[];
let time: number;
let logged: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'regen-queue-'));
  database = await openTestDatabase(folder);
  notices = testDatabase ? new Notices() : undefined;
  await notices?.listen(testDatabase as string, () => {});
  queues = [];
  time = Date.parse('2026-01-01T00:00:00Z');
  logged = [];
});

afterEach(async () => {
  await Promise.all(queues.map((queue) => queue.stop(1_000)));
  await notices?.close();
  await database.destroy();
  rmSync(folder, { recursive: true, force: true });
});

function createQueue(parts: Partial<LeasedTableOptions> = {}): Queue {
  const made = createLeasedTable({
    database,
    now: () => time,
    log: (_level, message) => logged.push(message),
    instance: 'one',
    alone: true,
    notices,
    pollMs: 20,
    ...parts,
  });
  queues.push(made);
  return made;
}

/** Runs two jobs of each kind in parallel. */
function startQueue(to: Queue, work: Record<string, JobHandler>): void {
  const kinds = Object.entries(work).map(([kind, run]) => [kind, { run, atOnce: 2 }]);
  to.start(Object.fromEntries(kinds));
}

/** Enqueues a job, of `ann` unless it says otherwise. */
function enqueueJob(to: Queue, job: Omit<NewJob, 'owner'> & { owner?: string }): Promise<void> {
  return database.transaction().execute((tx) => to.enqueue(tx, { owner: 'ann', ...job }));
}

const readJobs = () => database.selectFrom('jobs').selectAll().orderBy('kind').orderBy('key').execute();
const changeRows = (statement: RawBuilder<unknown>) =>
  database.transaction().execute((tx) => statement.execute(tx));
const acceptAll = () =>
  changeRows(testDatabase ? sql`drop trigger refuse on jobs` : sql`drop trigger refuse`);
/** The end of a lease of this process is not recorded. */
const refuseRelease = (instance: string) =>
  changeRows(
    testDatabase
      ? sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$;
          create trigger refuse before update on jobs for each row
            when (old.leased_by = ${sql.lit(instance)} and new.leased_by is null) execute function refuse()`
      : sql`create trigger refuse before update on jobs
          when old.leased_by = ${sql.lit(instance)} and new.leased_by is null
          begin select raise(abort, 'disk full'); end`,
  );
const waitUntilEmpty = () => waitFor(async () => expect(await readJobs()).toEqual([]));

/** A handler that records its jobs and ends when `finish` is called. */
function createHeldWork(): { work: JobHandler; begun: Job[]; signals: AbortSignal[]; finish: () => void } {
  let finish = () => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const begun: Job[] = [];
  const signals: AbortSignal[] = [];
  const work: JobHandler = async (job, signal) => {
    begun.push(job);
    signals.push(signal);
    await gate;
  };
  return { work, begun, signals, finish };
}

describe('the queue', () => {
  it('runs an enqueued job without waiting for the next poll, and deletes it', async () => {
    const done: string[] = [];
    const one = createQueue({ pollMs: 60_000_000 });
    startQueue(one, { greet: async ({ key }) => void done.push(key) });
    await enqueueJob(one, { kind: 'greet', key: 'a' });
    await waitUntilEmpty();
    expect(done).toEqual(['a']);
  });

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
    await enqueueJob(one, { kind: 'greet', key: 'a', runAt: time + 1_000 });
    await enqueueJob(one, { kind: 'part', key: 'a' });
    expect((await readJobs()).map(({ kind, run_at }) => [kind, Date.parse(run_at)])).toEqual([
      ['greet', time + 1_000],
      ['part', 0],
    ]);
  });

  it('keeps nothing of a job that another worker took since, and counts the lost lease', async () => {
    const lost: string[] = [];
    const { work, begun, finish } = createHeldWork();
    const note = (secret: string): JobHandler => {
      const row = { id: secret, use: 'url', secret, created_at: '2026-01-01T00:00:00.000Z' } as const;
      return ({ commit }) => commit(async (tx) => void (await tx.insertInto('keys').values(row).execute()));
    };
    const one = createQueue({ alone: false, count: (event) => void lost.push(event) });
    const late: JobHandler = async (job, signal) => {
      await work(job, signal);
      await note('one')(job, signal);
    };
    startQueue(one, { greet: late });
    await enqueueJob(one, { kind: 'greet', key: 'a' });
    await waitFor(() => expect(begun).toHaveLength(1));
    // The process was asleep for longer than its lease lasts.
    time += 61_000;
    startQueue(createQueue({ instance: 'two', alone: false }), { greet: note('two') });
    await waitUntilEmpty();
    finish();
    await one.stop(10_000);
    expect(await database.selectFrom('keys').select('id').execute()).toEqual([{ id: 'two' }]);
    expect([lost, logged]).toEqual([['leases_lost'], []]);
  });

  it('runs immediate jobs and retries even if the clock went back', async () => {
    const done: string[] = [];
    const first = createQueue();
    startQueue(first, { retried: () => Promise.reject(new Error('not yet')) });
    await enqueueJob(first, { kind: 'retried', key: 'a' });
    await waitFor(async () => expect((await readJobs())[0]?.last_error).toContain('not yet'));
    await first.stop(1_000);
    await enqueueJob(first, { kind: 'greet', key: 'b' });
    await enqueueJob(first, { kind: 'later', key: 'c', runAt: time + 24 * 3_600_000 });
    time -= 2 * 3_600_000;
    const note: JobHandler = async ({ kind }) => void done.push(kind);
    startQueue(createQueue({ instance: 'two' }), { retried: note, greet: note, later: note });
    await waitFor(() => expect(done.sort()).toEqual(['greet', 'retried']));
    await waitFor(async () => expect(await readJobs()).toHaveLength(1));
    expect(Date.parse((await readJobs())[0]?.run_at as string)).toBe(time + 24 * 3_600_000);
  });

  it('waits until a job is due', async () => {
    const done: string[] = [];
    const one = createQueue();
    startQueue(one, { greet: async ({ key }) => void done.push(key) });
    await enqueueJob(one, { kind: 'greet', key: 'later', runAt: time + 60_000 });
    await enqueueJob(one, { kind: 'greet', key: 'now' });
    await waitFor(async () => expect(await readJobs()).toMatchObject([{ key: 'later' }]));
    expect(done).toEqual(['now']);
    time += 60_000;
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
        pauses[before] = Date.parse(job?.run_at as string) - time;
      });
      time += pauses[before] as number;
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
    await enqueueJob(one, { kind: 'look', key: 'a', runAt: time + 1_000 });
    await database.transaction().execute((tx) => tx.updateTable('jobs').set({ attempts: 9 }).execute());
    time += 1_000;
    await waitFor(() => expect(attempts).toEqual([9]));
    await database.transaction().execute((tx) => one.bringForward(tx, { kind: 'look', key: 'a' }));
    fail();
    await waitUntilEmpty();
    expect(attempts).toEqual([9, 0]);
  });

  it('takes over the jobs of a dead process at once if it uses the table alone', async () => {
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    await leaseJob('dead', time + 3_600_000);
    const done: string[] = [];
    startQueue(createQueue({ instance: 'two' }), { greet: async ({ key }) => void done.push(key) });
    await waitUntilEmpty();
    expect(done).toEqual(['a']);
  });

  it('takes them over as soon as the database takes it', async () => {
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    const dead = { instance: 'dead', database, now: () => time };
    await claimJobs(dead, { kinds: ['greet'], free: { greet: 1 }, running: [] });
    await refuseRelease('dead');
    const done: string[] = [];
    startQueue(createQueue({ instance: 'next' }), { greet: async ({ key }) => void done.push(key) });
    await waitFor(() => expect(logged).toContain('Could not recover jobs that were left running.'));
    await acceptAll();
    await waitUntilEmpty();
    expect(done).toEqual(['a']);
  });

  it('leaves jobs that another process has leased until their leases end', async () => {
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    await leaseJob('other', time + 60_000);
    const done: string[] = [];
    const shared = createQueue({ instance: 'two', alone: false });
    startQueue(shared, { greet: async ({ key }) => void done.push(key) });
    await enqueueJob(shared, { kind: 'greet', key: 'b' });
    await waitFor(() => expect(done).toEqual(['b']));
    time += 60_001;
    await waitUntilEmpty();
    expect(done).toEqual(['b', 'a']);
  });

  it('runs each job in one of several workers', async () => {
    const done: string[] = [];
    const greet: JobHandler = async ({ key }) => void done.push(key);
    const workers = ['one', 'two', 'three'].map((instance) => createQueue({ instance, alone: false }));
    for (const worker of workers) startQueue(worker, { greet });
    const keys = Array.from({ length: 30 }, (_, index) => String(index));
    await Promise.all(
      keys.map((key, index) => enqueueJob(workers[index % 3] as Queue, { kind: 'greet', key })),
    );
    await waitUntilEmpty();
    expect(done.sort()).toEqual(keys.sort());
  });

  it('does not start a running job again if the clock jumps ahead', async () => {
    const { work, begun, finish } = createHeldWork();
    const one = createQueue();
    startQueue(one, { wait: work });
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    await waitFor(() => expect(begun).toHaveLength(1));
    time += 3_600_000;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(begun).toHaveLength(1);
    finish();
    await waitUntilEmpty();
  });

  it('renews a lease while its job runs, and aborts the job when the lease is lost', async () => {
    const { work, signals, finish } = createHeldWork();
    const counted: unknown[] = [];
    const one = createQueue({ leaseMs: 30, count: (...event) => counted.push(event) });
    startQueue(one, { wait: work });
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    await waitFor(() => expect(signals).toHaveLength(1));
    time += 1_000;
    await waitFor(async () =>
      expect(Date.parse((await readJobs())[0]?.leased_until as string)).toBe(time + 30),
    );
    expect(signals[0]?.aborted).toBe(false);
    await leaseJob('thief', time + 60_000);
    await waitFor(() => expect(signals[0]?.aborted).toBe(true));
    finish();
    await one.stop(1_000);
    expect((await readJobs())[0]?.leased_by).toBe('thief');
    expect(counted).toEqual([['leases_lost', { kind: expect.any(String) }]]);
  });

  it('records the end of a job as soon as the database takes it, and does not run the job again', async () => {
    const begun: string[] = [];
    const one = createQueue();
    await changeRows(
      testDatabase
        ? sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$;
            create trigger refuse before delete on jobs for each row execute function refuse()`
        : sql`create trigger refuse before delete on jobs begin select raise(abort, 'disk full'); end`,
    );
    startQueue(one, { greet: async ({ key }) => void begun.push(key) });
    await enqueueJob(one, { kind: 'greet', key: 'a' });
    await waitFor(() => expect(logged).toContain('Could not record the end of job greet.'));
    time += 1_000_000;
    await acceptAll();
    await waitUntilEmpty();
    expect(begun).toEqual(['a']);
  });

  it('waits for the running job when it stops, and takes no other', async () => {
    const { work, begun, finish } = createHeldWork();
    const one = createQueue();
    one.start({ wait: { run: work, atOnce: 1 } });
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    await waitFor(() => expect(begun).toHaveLength(1));
    await enqueueJob(one, { kind: 'wait', key: 'b', runAt: time - 1 });
    const stopped = one.stop(10_000);
    finish();
    await stopped;
    expect((await readJobs()).map(({ key }) => key)).toEqual(['b']);
  });

  it('aborts a job that takes too long when it stops, and leaves it unchanged for the next start', async () => {
    const one = createQueue();
    let begun = false;
    startQueue(one, {
      endless: (_job, signal) =>
        new Promise((_resolve, reject) => {
          begun = true;
          signal.addEventListener('abort', () => reject(new Error('stopped')));
        }),
    });
    await enqueueJob(one, { kind: 'endless', key: 'a' });
    await waitFor(() => expect(begun).toBe(true));
    await one.stop(10);
    expect(await readJobs()).toMatchObject([
      { attempts: 0, leased_by: null, leased_until: null, last_error: null },
    ]);
  });

  it('hands back a job that ignores the stop, as if it had not been started', async () => {
    const { work, begun, finish } = createHeldWork();
    const one = createQueue();
    startQueue(one, { wait: work });
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    await waitFor(() => expect(begun).toHaveLength(1));
    await one.stop(1);
    expect(await readJobs()).toMatchObject([{ attempts: 0, leased_by: null, leased_until: null }]);
    startQueue(createQueue({ instance: 'two' }), { wait: async () => {} });
    await waitUntilEmpty();
    finish();
  });

  it('knows whether a job is running or due', async () => {
    const { work, begun, finish } = createHeldWork();
    const one = createQueue();
    expect(await one.hasWorkBy(time)).toBe(false);
    await enqueueJob(one, { kind: 'wait', key: 'a', runAt: time + 1_000 });
    expect(await one.hasWorkBy(time + 999)).toBe(false);
    expect(await one.hasWorkBy(time + 1_000)).toBe(true);
    time += 1_000;
    startQueue(one, { wait: work });
    await waitFor(() => expect(begun).toHaveLength(1));
    expect(await one.hasWorkBy(0)).toBe(true);
    finish();
    await waitUntilEmpty();
    await waitFor(async () => expect(await one.hasWorkBy(time + 1_000_000)).toBe(false));
  });

  it('runs a job again at the time that it asks for, which does not count as a failed attempt', async () => {
    const seen: number[] = [];
    const one = createQueue();
    startQueue(one, {
      look: async ({ attempts }) => {
        seen.push(attempts);
        if (seen.length < 3) throw new RunAgain(time + 30_000);
      },
    });
    await enqueueJob(one, { kind: 'look', key: 'a' });
    for (const looks of [1, 2]) {
      await waitFor(async () =>
        expect((await readJobs())[0]?.run_at).toBe(new Date(time + 30_000).toISOString()),
      );
      expect([seen.length, (await readJobs())[0]?.leased_by]).toEqual([looks, null]);
      time += 30_000;
    }
    await waitUntilEmpty();
    expect(seen).toEqual([0, 0, 0]);
    expect(logged).toEqual([]);
  });

  it('brings a job forward that waits, and makes none', async () => {
    const done: string[] = [];
    const one = createQueue({ pollMs: 60_000_000 });
    startQueue(one, { look: async ({ key }) => void done.push(key) });
    await enqueueJob(one, { kind: 'look', key: 'a', runAt: time + 1_000_000_000 });
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
    await enqueueJob(one as Queue, { kind: 'watch', key: 'w', runAt: time + 1_000_000 });
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

async function leaseJob(by: string, until: number): Promise<void> {
  await database.transaction().execute((tx) =>
    tx
      .updateTable('jobs')
      .set({ leased_by: by, leased_until: new Date(until).toISOString() })
      .execute(),
  );
}

it.skipIf(testDatabase)(
  'finds the next job by indexes, however many wait or are scheduled for later',
  async () => {
    const made = createQueue();
    await database.transaction().execute(async (tx) => {
      for (let at = 0; at < 300; at += 1) {
        const runAt = at % 3 ? time + 60_000 : time;
        await made.enqueue(tx, { kind: at % 2 ? 'a' : 'b', key: `k${at}`, owner: `o${at % 5}`, runAt });
      }
    });
    const plans = await listPlans(database, () =>
      claimJobs(
        { database, now: () => time, instance: 'one' },
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
  await enqueueJob(made, { kind: 'kind-3', key: 'later', runAt: time + 60_000 });
  const free = Object.fromEntries(kinds.map((kind) => [kind, 1]));
  const holder = { database, now: () => time, instance: 'one' };
  const options = { kinds, free, running: [] };
  const { queries } = await observeReads(database, () => claimJobs(holder, options));
  expect(queries).toBe(1);
  time += 60_000;
  expect((await claimJobs(holder, options)).map(({ key }) => key)).toEqual(['later']);
});

describe('turns', () => {
  /** Enqueues a job of the next millisecond: jobs of the same one have no order. */
  const add = (to: Queue, key: string, job: Partial<NewJob> = {}) => {
    time += 1;
    return enqueueJob(to, { kind: 'check', key, owner: key.slice(0, 3), ...job });
  };

  /** The keys of jobs in the order in which they start, one at a time; `between` adds more. */
  async function findOrder(
    before: (one: Queue) => Promise<void>,
    between?: (begun: readonly string[], one: Queue) => Promise<void>,
  ) {
    const one = createQueue();
    const begun: string[] = [];
    const run: JobHandler = async ({ key }) => {
      begun.push(key);
      await between?.(begun, one);
    };
    await before(one);
    one.start({ check: { run, atOnce: 1 } });
    await waitUntilEmpty();
    return begun;
  }

  it('let the job of one owner wait for one job of an owner who has many', async () => {
    const order = await findOrder(
      async (one) => {
        for (let at = 0; at < 20; at += 1) await add(one, `ann${at}`);
      },
      async (begun, one) => {
        if (begun.length !== 3) return;
        for (const key of ['bob0', 'bob1']) await add(one, key);
        await add(one, 'eve0');
      },
    );
    expect(order.slice(0, 9)).toEqual([
      'ann0',
      'ann1',
      'ann2',
      'ann3',
      'bob0',
      'eve0',
      'ann4',
      'bob1',
      'ann5',
    ]);
    expect(order).toHaveLength(23);
  });

  it('do not let owners overtake who enqueue their next job when one ended', async () => {
    const order = await findOrder(
      async (one) => {
        for (const key of ['ann0', 'ann1', 'ann2', 'bob0', 'eve0']) await add(one, key);
      },
      async (begun, one) => {
        const last = begun.at(-1) as string;
        const owner = last.slice(0, 3);
        if (owner === 'ann' || begun.length > 12) return;
        await add(one, `${owner}${begun.length}`);
      },
    );
    expect(order.indexOf('ann2')).toBeLessThan(8);
  });

  it('are given to all who became due while a job ran, and after them to jobs that come last', async () => {
    const order = await findOrder(async (one) => {
      await add(one, 'night', { last: true });
      for (let at = 0; at < 3; at += 1) await add(one, `ann${at}`, { runAt: time });
      await add(one, 'bob0', { runAt: time });
    });
    expect(order).toEqual(['ann0', 'bob0', 'ann1', 'ann2', 'night']);
  });
});

describe('a job that ends its process', () => {
  /** Lets a process start the due jobs and end without a word. @returns the keys that it ran */
  async function crash(instance: string, kinds: Record<string, Partial<JobKind>>): Promise<string[]> {
    const ran: string[] = [];
    const run: JobHandler = ({ key }) => {
      ran.push(key);
      return new Promise(() => {});
    };
    // A database of its own, which closes without the queue knowing.
    const own = await openTestDatabase(folder);
    const dying = createLeasedTable({
      database: own,
      now: () => time,
      log: () => {},
      instance,
      alone: true,
      pollMs: 60_000_000,
    });
    dying.start(
      Object.fromEntries(Object.entries(kinds).map(([kind, rest]) => [kind, { run, atOnce: 9, ...rest }])),
    );
    await waitFor(() => expect(ran.length).toBeGreaterThan(0));
    await claimed(own);
    await own.destroy();
    return ran.sort();
  }

  /** Waits until no claim is under way: claims are transactions, which take turns. */
  async function claimed(own: Database): Promise<void> {
    for (let at = 0; at < 20; at += 1) {
      await own.transaction().execute((tx) => tx.selectFrom('jobs').select('id').execute());
    }
  }

  it('is held against it if it ran alone, and is no attempt of any job', async () => {
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    time += 1;
    await enqueueJob(createQueue(), { kind: 'greet', key: 'b' });
    expect(await crash('p1', { greet: {} })).toEqual(['a', 'b']);
    // The first unclean end may be an accident: both run again side by side.
    expect(await crash('p2', { greet: {} })).toEqual(['a', 'b']);
    // From the second on each runs alone.
    expect(await crash('p3', { greet: {} })).toEqual(['a']);
    expect((await readJobs()).map(({ key, crashes }) => [key, crashes])).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
    const attempts: number[] = [];
    const quarantined: string[] = [];
    const quarantine = async ({ key }: Job) => void quarantined.push(key);
    for (const instance of ['p4', 'p5', 'p6', 'p7']) await crash(instance, { greet: { quarantine } });
    const note: JobHandler = async (job) => void attempts.push(job.attempts);
    createQueue({ instance: 'p8' }).start({ greet: { run: note, atOnce: 9, quarantine } });
    await waitUntilEmpty();
    expect(quarantined).toEqual(['a']);
    expect(attempts).toEqual([0]);
    expect(logged.filter((line) => line.includes('is not run again'))).toHaveLength(1);
  });

  it('lets one that can be resumed make way for others after a while', async () => {
    await enqueueJob(createQueue(), { kind: 'watch', key: 'a' });
    for (const instance of ['p1', 'p2']) await crash(instance, { watch: {} });
    const begun: boolean[] = [];
    const untilAborted: JobHandler = (_, signal) =>
      new Promise((_resolve, reject) => {
        begun.push(signal.aborted);
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const one = createQueue({ instance: 'p3', suspicionMs: 20 });
    const greeted: string[] = [];
    const greet: JobHandler = async ({ key }) => void greeted.push(key);
    one.start({
      watch: { run: untilAborted, atOnce: 1, resumes: true },
      greet: { run: greet, atOnce: 1 },
    });
    await waitFor(() => expect(begun).toHaveLength(1));
    await enqueueJob(one, { kind: 'greet', key: 'b' });
    await waitFor(() => expect(greeted).toEqual(['b']));
    const left = [{ key: 'a', crashes: 2, unclean_ends: 0, attempts: 1 }];
    await waitFor(async () => expect(await readJobs()).toMatchObject(left));
  });

  it('is recorded as soon as the database takes it for one that made way', async () => {
    await enqueueJob(createQueue(), { kind: 'watch', key: 'a' });
    for (const instance of ['p1', 'p2']) await crash(instance, { watch: {} });
    await refuseRelease('p3');
    const begun: boolean[] = [];
    const one = createQueue({ instance: 'p3', suspicionMs: 20 });
    const run: JobHandler = (_, signal) =>
      new Promise((resolve, reject) => {
        begun.push(true);
        if (begun.length > 1) resolve();
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    one.start({ watch: { run, atOnce: 1, resumes: true } });
    await waitFor(() => expect(logged).toContain('Could not record the end of job watch.'));
    await acceptAll();
    await waitUntilEmpty();
    expect(begun).toHaveLength(2);
  });

  it('is not held against jobs that a stopped service hands back', async () => {
    const { work, begun, finish } = createHeldWork();
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    for (let at = 1; at <= 7; at += 1) {
      const one = createQueue({ instance: `p${at}` });
      const run: JobHandler = (job, signal) =>
        Promise.race([
          work(job, signal),
          new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        ]);
      startQueue(one, { greet: run });
      await waitFor(() => expect(begun).toHaveLength(at));
      await one.stop(1);
    }
    expect(await readJobs()).toMatchObject([{ crashes: 0, unclean_ends: 0, attempts: 0, leased_by: null }]);
    finish();
  });
});
