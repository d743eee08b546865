import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { claimJobs } from '../../../src/service/queue/leases.js';
import type { JobHandler, Queue } from '../../../src/service/queue/queue.js';
import {
  acceptAll,
  changeRows,
  clock,
  createHeldWork,
  createQueue,
  database,
  enqueueJob,
  leaseJob,
  logged,
  readJobs,
  refuseRelease,
  startQueue,
  useLeasedTable,
  waitUntilEmpty,
} from '../../support/leased-table.js';
import { testDatabase } from '../../support/postgres.js';
import { waitFor } from '../../support/wait-for.js';

useLeasedTable();

describe('a leased job', () => {
  it('is rolled back if another worker has taken it, and the lost lease is counted', async () => {
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
    clock.now += 61_000;
    startQueue(createQueue({ instance: 'two', alone: false }), { greet: note('two') });
    await waitUntilEmpty();
    finish();
    await one.stop(10_000);
    expect(await database.selectFrom('keys').select('id').execute()).toEqual([{ id: 'two' }]);
    expect([lost, logged]).toEqual([['leases_lost'], []]);
  });

  it('is taken over at once from a dead process by a process that uses the table alone', async () => {
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    await leaseJob('dead', clock.now + 3_600_000);
    const done: string[] = [];
    startQueue(createQueue({ instance: 'two' }), { greet: async ({ key }) => void done.push(key) });
    await waitUntilEmpty();
    expect(done).toEqual(['a']);
  });

  it('is taken over from a dead process as soon as the database accepts the write', async () => {
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    const dead = { instance: 'dead', database, now: () => clock.now };
    await claimJobs(dead, { kinds: ['greet'], free: { greet: 1 }, running: [] });
    await refuseRelease('dead');
    const done: string[] = [];
    startQueue(createQueue({ instance: 'next' }), { greet: async ({ key }) => void done.push(key) });
    await waitFor(() => expect(logged).toContain('Could not recover jobs that were left running.'));
    await acceptAll();
    await waitUntilEmpty();
    expect(done).toEqual(['a']);
  });

  it('is left to its process until the lease ends', async () => {
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    await leaseJob('other', clock.now + 60_000);
    const done: string[] = [];
    const shared = createQueue({ instance: 'two', alone: false });
    startQueue(shared, { greet: async ({ key }) => void done.push(key) });
    await enqueueJob(shared, { kind: 'greet', key: 'b' });
    await waitFor(() => expect(done).toEqual(['b']));
    clock.now += 60_001;
    await waitUntilEmpty();
    expect(done).toEqual(['b', 'a']);
  });

  it('runs in exactly one of several workers', async () => {
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

  it('is not started again while it runs if the clock jumps ahead', async () => {
    const { work, begun, finish } = createHeldWork();
    const one = createQueue();
    startQueue(one, { wait: work });
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    await waitFor(() => expect(begun).toHaveLength(1));
    clock.now += 3_600_000;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(begun).toHaveLength(1);
    finish();
    await waitUntilEmpty();
  });

  it('has its lease renewed while it runs, and is aborted when the lease is lost', async () => {
    const { work, signals, finish } = createHeldWork();
    const counted: unknown[] = [];
    const one = createQueue({ leaseMs: 30, count: (...event) => counted.push(event) });
    startQueue(one, { wait: work });
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    await waitFor(() => expect(signals).toHaveLength(1));
    clock.now += 1_000;
    await waitFor(async () =>
      expect(Date.parse((await readJobs())[0]?.leased_until as string)).toBe(clock.now + 30),
    );
    expect(signals[0]?.aborted).toBe(false);
    await leaseJob('thief', clock.now + 60_000);
    await waitFor(() => expect(signals[0]?.aborted).toBe(true));
    finish();
    await one.stop(1_000);
    expect((await readJobs())[0]?.leased_by).toBe('thief');
    expect(counted).toEqual([['leases_lost', { kind: expect.any(String) }]]);
  });

  it('is recorded as ended as soon as the database accepts the write, and does not run again', async () => {
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
    clock.now += 1_000_000;
    await acceptAll();
    await waitUntilEmpty();
    expect(begun).toEqual(['a']);
  });

  it('is waited for when the queue stops, which takes no other job', async () => {
    const { work, begun, finish } = createHeldWork();
    const one = createQueue();
    one.start({ wait: { run: work, atOnce: 1 } });
    await enqueueJob(one, { kind: 'wait', key: 'a' });
    await waitFor(() => expect(begun).toHaveLength(1));
    await enqueueJob(one, { kind: 'wait', key: 'b', runAt: clock.now - 1 });
    const stopped = one.stop(10_000);
    finish();
    await stopped;
    expect((await readJobs()).map(({ key }) => key)).toEqual(['b']);
  });

  it('is aborted when the queue stops if it takes too long, and is unchanged at the next start', async () => {
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

  it('is handed back if it ignores the stop, as if it had not been started', async () => {
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
});
