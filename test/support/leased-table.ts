import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Database } from '../../src/service/database/database.js';
import { Notices } from '../../src/service/database/notices.js';
import { createLeasedTable, type LeasedTableOptions } from '../../src/service/queue/leased-table.js';
import type { Job, JobHandler, NewJob, Queue } from '../../src/service/queue/queue.js';
import { openTestDatabase, testDatabase } from './postgres.js';
import { waitFor } from './wait-for.js';

/** The clock of all queues of a test. */
export const clock = { now: 0 };
export let folder: string;
export let database: Database;
export let logged: string[];
let notices: Notices | undefined;
let queues: Queue[];

/** Gives each test of a file a database of its own, and stops the queues that it created. */
export function useLeasedTable(): void {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'regen-queue-'));
    database = await openTestDatabase(folder);
    notices = testDatabase ? new Notices() : undefined;
    await notices?.listen(testDatabase as string, () => {});
    queues = [];
    clock.now = Date.parse('2026-01-01T00:00:00Z');
    logged = [];
  });

  afterEach(async () => {
    await Promise.all(queues.map((queue) => queue.stop(1_000)));
    await notices?.close();
    await database.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
}

export function createQueue(parts: Partial<LeasedTableOptions> = {}): Queue {
  const made = createLeasedTable({
    database,
    now: () => clock.now,
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
export function startQueue(to: Queue, work: Record<string, JobHandler>): void {
  const kinds = Object.entries(work).map(([kind, run]) => [kind, { run, atOnce: 2 }]);
  to.start(Object.fromEntries(kinds));
}

/** Enqueues a job, of `ann` unless it says otherwise. */
export function enqueueJob(to: Queue, job: Omit<NewJob, 'owner'> & { owner?: string }): Promise<void> {
  return database.transaction().execute((tx) => to.enqueue(tx, { owner: 'ann', ...job }));
}

export const readJobs = () =>
  database.selectFrom('jobs').selectAll().orderBy('kind').orderBy('key').execute();
export const changeRows = (statement: RawBuilder<unknown>) =>
  database.transaction().execute((tx) => statement.execute(tx));
export const acceptAll = () =>
  changeRows(testDatabase ? sql`drop trigger refuse on jobs` : sql`drop trigger refuse`);
/** The end of a lease of this process is not recorded. */
export const refuseRelease = (instance: string) =>
  changeRows(
    testDatabase
      ? sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$;
          create trigger refuse before update on jobs for each row
            when (old.leased_by = ${sql.lit(instance)} and new.leased_by is null) execute function refuse()`
      : sql`create trigger refuse before update on jobs
          when old.leased_by = ${sql.lit(instance)} and new.leased_by is null
          begin select raise(abort, 'disk full'); end`,
  );
export const waitUntilEmpty = () => waitFor(async () => expect(await readJobs()).toEqual([]));

/** A handler that records its jobs and ends when `finish` is called. */
export function createHeldWork(): {
  work: JobHandler;
  begun: Job[];
  signals: AbortSignal[];
  finish: () => void;
} {
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

/** Marks all jobs as leased by a process. */
export async function leaseJob(by: string, until: number): Promise<void> {
  await database.transaction().execute((tx) =>
    tx
      .updateTable('jobs')
      .set({ leased_by: by, leased_until: new Date(until).toISOString() })
      .execute(),
  );
}
