import { sql } from 'kysely';
import type { Database } from '../context.js';
import type { Job } from './queue.js';

/** A job this process holds. */
export interface Leased extends Job {
  readonly id: string;
}

/** What every statement here needs to know. */
interface Holder {
  readonly database: Database;
  readonly now: () => number;
  readonly instance: string;
  readonly leaseMs?: number;
}

const longestPauseMs = 60 * 60_000;

/**
 * Takes the job that has waited longest, if any of these kinds is due.
 * @param own ids of the jobs that run in this process: a clock that jumped ahead has ended their leases
 */
export async function claim(
  holder: Holder,
  kinds: readonly string[],
  own: readonly string[],
): Promise<Leased | undefined> {
  if (kinds.length === 0) return undefined;
  const now = time(holder.now());
  return await holder.database.transaction().execute(async (tx) => {
    const job = await tx
      .selectFrom('jobs')
      .select(['id', 'kind', 'key', 'attempts'])
      .where('run_at', '<=', now)
      .where('kind', 'in', kinds)
      .$if(own.length > 0, (query) => query.where('id', 'not in', own))
      .where((where) => where.or([where('leased_until', 'is', null), where('leased_until', '<', now)]))
      .orderBy('run_at')
      .orderBy('created_at')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (!job) return undefined;
    const { numUpdatedRows } = await tx
      .updateTable('jobs')
      .set({
        leased_until: leaseEnd(holder),
        leased_by: holder.instance,
        attempts: sql<number>`attempts + 1`,
      })
      .where('id', '=', job.id)
      .where((where) => where.or([where('leased_until', 'is', null), where('leased_until', '<', now)]))
      .executeTakeFirst();
    return numUpdatedRows === 1n ? job : undefined;
  });
}

/** @returns false where the lease was lost to another worker */
export async function extend(holder: Holder, job: Leased): Promise<boolean> {
  return await update(holder, job, { leased_until: leaseEnd(holder) });
}

/** Forgets a job that is done; one enqueued again meanwhile is put back instead. */
export async function complete({ database, instance }: Holder, job: Leased): Promise<void> {
  await database.transaction().execute(async (tx) => {
    const own = { id: job.id, leased_by: instance };
    const { numDeletedRows } = await tx
      .deleteFrom('jobs')
      .where((where) => where.and({ ...own, attempts: job.attempts + 1 }))
      .executeTakeFirst();
    if (numDeletedRows > 0n) return;
    await tx
      .updateTable('jobs')
      .set(unleased)
      .where((where) => where.and(own))
      .execute();
  });
}

/** Puts a job back with its error, to be tried after a pause that doubles each time, up to an hour. */
export async function fail(holder: Holder, job: Leased, error: string): Promise<void> {
  const pause = Math.min(longestPauseMs, 1_000 * 2 ** Math.min(job.attempts, 20));
  const jittered = pause * (0.5 + Math.random() / 2);
  await update(holder, job, {
    ...unleased,
    run_at: time(holder.now() + jittered),
    last_error: error.replaceAll('\0', '').slice(0, 2_000),
  });
}

/** Puts a job back as it was, because the service stops. */
export async function release(holder: Holder, job: Leased): Promise<void> {
  await update(holder, job, { ...unleased, attempts: job.attempts });
}

/** Ends the leases of every other process; only for one that works on the table alone. */
export async function releaseOthers({ database, instance }: Holder): Promise<void> {
  await database
    .transaction()
    .execute((tx) =>
      tx.updateTable('jobs').set(unleased).where('leased_by', '<>', instance).executeTakeFirst(),
    );
}

/** Mends what a clock that was ahead has put off: a retry further away than the longest pause, a job than the longest delay. */
export async function bringForward({ database, now }: Holder, longestDelayMs: number): Promise<void> {
  const longest = time(now() + longestDelayMs);
  await database.transaction().execute(async (tx) => {
    await tx
      .updateTable('jobs')
      .set({ run_at: time(now()) })
      .where('attempts', '>', 0)
      .where('run_at', '>', time(now() + longestPauseMs))
      .execute();
    await tx.updateTable('jobs').set({ run_at: longest }).where('run_at', '>', longest).execute();
  });
}

const unleased = { leased_until: null, leased_by: null };

interface Change {
  readonly leased_until?: string | null;
  readonly leased_by?: null;
  readonly run_at?: string;
  readonly attempts?: number;
  readonly last_error?: string;
}

async function update({ database, instance }: Holder, job: Leased, change: Change): Promise<boolean> {
  const { numUpdatedRows } = await database
    .transaction()
    .execute((tx) =>
      tx
        .updateTable('jobs')
        .set(change)
        .where('id', '=', job.id)
        .where('leased_by', '=', instance)
        .executeTakeFirst(),
    );
  return numUpdatedRows === 1n;
}

function leaseEnd({ now, leaseMs = 60_000 }: Holder): string {
  return time(now() + leaseMs);
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
