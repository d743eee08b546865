import { describe, expect, it } from 'vitest';
import type { Database } from '../../../src/service/database/database.js';
import { createLeasedTable } from '../../../src/service/queue/leased-table.js';
import type { Job, JobHandler, JobKind } from '../../../src/service/queue/queue.js';
import {
  acceptAll,
  clock,
  createHeldWork,
  createQueue,
  enqueueJob,
  folder,
  logged,
  readJobs,
  refuseRelease,
  startQueue,
  useLeasedTable,
  waitUntilEmpty,
} from '../../support/leased-table.js';
import { openTestDatabase } from '../../support/postgres.js';
import { waitFor } from '../../support/wait-for.js';

useLeasedTable();

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
      now: () => clock.now,
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

  it('is counted as its crash if it ran alone, and as an attempt of no job', async () => {
    await enqueueJob(createQueue(), { kind: 'greet', key: 'a' });
    clock.now += 1;
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

  it('makes way for other jobs after a while if it can be resumed', async () => {
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

  it('is recorded after it made way, as soon as the database accepts the write', async () => {
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

  it('does not count as a crash of jobs that a stopped service hands back', async () => {
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
