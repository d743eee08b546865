import { sql } from 'kysely';
import { backoffMs } from '../../wire/backoff.js';
import type { Database, Tx } from '../database/database.js';
import type { Job } from './queue.js';

/** A job that this process has leased. */
export interface LeasedJob extends Job {
  readonly id: string;
}

/** The process that leases jobs, and its settings. */
interface LeaseHolder {
  readonly database: Database;
  readonly now: () => number;
  readonly instance: string;
  readonly leaseMs?: number;
}

const MAX_PAUSE_MS = 60 * 60_000;

/**
 * Leases the job that has been due longest, if any of these kinds is due. Each kind is queried separately, so
 * that an index finds its next job at once, however many jobs are scheduled for later.
 * @param own ids of the jobs that run in this process: if the clock jumps ahead, their leases look expired
 */
export async function claimJob(
  holder: LeaseHolder,
  kinds: readonly string[],
  own: readonly string[],
): Promise<LeasedJob | undefined> {
  if (kinds.length === 0) return undefined;
  const now = toIsoTime(holder.now());
  return await holder.database.transaction().execute(async (tx) => {
    const due = [];
    for (const kind of kinds) due.push(await findNextJob(tx, kind, own, now));
    const [job] = due.filter((one) => one !== undefined).sort(compareDue);
    if (!job) return undefined;
    const { numUpdatedRows } = await tx
      .updateTable('jobs')
      .set({
        leased_until: getLeaseEnd(holder),
        leased_by: holder.instance,
        attempts: sql<number>`attempts + 1`,
      })
      .where('id', '=', job.id)
      .where((where) => where.or([where('leased_until', 'is', null), where('leased_until', '<', now)]))
      .executeTakeFirst();
    return numUpdatedRows === 1n ? job : undefined;
  });
}

function findNextJob(tx: Tx, kind: string, own: readonly string[], now: string) {
  return tx
    .selectFrom('jobs')
    .select(['id', 'kind', 'key', 'attempts', 'run_at', 'created_at'])
    .where('kind', '=', kind)
    .where('run_at', '<=', now)
    .$if(own.length > 0, (query) => query.where('id', 'not in', own))
    .where((where) => where.or([where('leased_until', 'is', null), where('leased_until', '<', now)]))
    .orderBy('run_at')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

type DueJob = NonNullable<Awaited<ReturnType<typeof findNextJob>>>;

function compareDue(one: DueJob, other: DueJob): number {
  const [left, right] = [one, other].map(({ run_at, created_at, id }) => `${run_at} ${created_at} ${id}`);
  return (left as string) < (right as string) ? -1 : 1;
}

/** @returns false if another worker has taken the lease */
export async function extendLease(holder: LeaseHolder, job: LeasedJob): Promise<boolean> {
  return await updateLeasedJob(holder, job, { leased_until: getLeaseEnd(holder) });
}

/** Deletes a job that is done; one that was enqueued again during its run is released instead. */
export async function completeJob({ database, instance }: LeaseHolder, job: LeasedJob): Promise<void> {
  await database.transaction().execute(async (tx) => {
    const own = { id: job.id, leased_by: instance };
    const { numDeletedRows } = await tx
      .deleteFrom('jobs')
      .where((where) => where.and({ ...own, attempts: job.attempts + 1 }))
      .executeTakeFirst();
    if (numDeletedRows > 0n) return;
    await tx
      .updateTable('jobs')
      .set(NO_LEASE)
      .where((where) => where.and(own))
      .execute();
  });
}

/** Releases a job with its error, to be retried after a pause that doubles each time, up to an hour. */
export async function failJob(holder: LeaseHolder, job: LeasedJob, error: string): Promise<void> {
  const pauseMs = backoffMs(job.attempts + 1, { firstMs: 1_000, maxMs: MAX_PAUSE_MS });
  await updateLeasedJob(holder, job, {
    ...NO_LEASE,
    run_at: toIsoTime(holder.now() + pauseMs),
    last_error: error.replaceAll('\0', '').slice(0, 2_000),
  });
}

/** Releases a job unchanged, because the service stops. */
export async function releaseJob(holder: LeaseHolder, job: LeasedJob): Promise<void> {
  await updateLeasedJob(holder, job, { ...NO_LEASE, attempts: job.attempts });
}

/** Ends the leases of all other processes; only for a process that uses the table alone. */
export async function releaseOtherLeases({ database, instance }: LeaseHolder): Promise<void> {
  await database
    .transaction()
    .execute((tx) =>
      tx.updateTable('jobs').set(NO_LEASE).where('leased_by', '<>', instance).executeTakeFirst(),
    );
}

/** Corrects times set while the clock was ahead: beyond the longest pause of a retry or delay of a job. */
export async function limitDelays({ database, now }: LeaseHolder, maxDelayMs: number): Promise<void> {
  const longest = toIsoTime(now() + maxDelayMs);
  await database.transaction().execute(async (tx) => {
    await tx
      .updateTable('jobs')
      .set({ run_at: toIsoTime(now()) })
      .where('attempts', '>', 0)
      .where('run_at', '>', toIsoTime(now() + MAX_PAUSE_MS))
      .execute();
    await tx.updateTable('jobs').set({ run_at: longest }).where('run_at', '>', longest).execute();
  });
}

const NO_LEASE = { leased_until: null, leased_by: null };

interface JobChange {
  readonly leased_until?: string | null;
  readonly leased_by?: null;
  readonly run_at?: string;
  readonly attempts?: number;
  readonly last_error?: string;
}

async function updateLeasedJob(
  { database, instance }: LeaseHolder,
  job: LeasedJob,
  change: JobChange,
): Promise<boolean> {
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

function getLeaseEnd({ now, leaseMs = 60_000 }: LeaseHolder): string {
  return toIsoTime(now() + leaseMs);
}

function toIsoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
