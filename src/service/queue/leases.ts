import { sql } from 'kysely';
import { backoffMs } from '../../wire/backoff.js';
import type { Database, Tx } from '../database/database.js';
import type { Job } from './queue.js';
import { assignTurns } from './turns.js';

/** A job that this process has leased. */
export interface LeasedJob extends Job {
  readonly id: string;
  /** How often the process ended while it ran this job and no other. */
  readonly crashes: number;
  /** It ran in the last processes that ended uncleanly, so it runs without other jobs. */
  readonly isSuspected: boolean;
}

/** The process that leases jobs, and its settings. */
interface LeaseHolder {
  readonly database: Database;
  readonly now: () => number;
  readonly instance: string;
  readonly leaseMs?: number;
}

const MAX_PAUSE_MS = 60 * 60_000;

export interface ClaimOptions {
  /** The kinds that this process runs. */
  readonly kinds: readonly string[];
  /** Those of them that may start one more job. */
  readonly free: readonly string[];
  /** Whether no job runs in this process. */
  readonly isIdle: boolean;
}

/**
 * Leases the next job: a suspected one if no other job runs here, else the one whose turn it is. While a
 * suspected job waits, no other starts. Indexes find each, however many jobs wait.
 */
export async function claimJob(
  holder: LeaseHolder,
  { kinds, free, isIdle }: ClaimOptions,
): Promise<LeasedJob | undefined> {
  const now = toIsoTime(holder.now());
  return await holder.database.transaction().execute(async (tx) => {
    const suspected = await findSuspectedJob(tx, kinds, now);
    if (suspected) return isIdle ? leaseJob(tx, holder, { ...suspected, isSuspected: true }) : undefined;
    // Also for kinds that are not free, so that turns follow the order of arrival.
    await assignTurns(tx, kinds, now);
    const due = [];
    for (const kind of free) due.push(await findNextJob(tx, kind));
    const [job] = due.filter((one) => one !== undefined).sort(compareDue);
    return job && leaseJob(tx, holder, { ...job, isSuspected: false });
  });
}

const CLAIMED_COLUMNS = ['id', 'kind', 'key', 'attempts', 'crashes', 'run_at', 'created_at'] as const;

/** Once may be an accident; a job that was running at two unclean ends in a row is suspected. */
function findSuspectedJob(tx: Tx, kinds: readonly string[], now: string) {
  return tx
    .selectFrom('jobs')
    .select(CLAIMED_COLUMNS)
    .where('unclean_ends', '>', sql.lit(1))
    .where('leased_by', 'is', null)
    .where('kind', 'in', kinds)
    .where('run_at', '<=', now)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
}

function findNextJob(tx: Tx, kind: string) {
  return tx
    .selectFrom('jobs')
    .select(CLAIMED_COLUMNS)
    .where('kind', '=', kind)
    .where('turn', 'is not', null)
    .where('leased_by', 'is', null)
    .orderBy('priority')
    .orderBy('turn')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

type DueJob = NonNullable<Awaited<ReturnType<typeof findNextJob>>>;

/** Between kinds, the job that has been due longest comes first. */
function compareDue(one: DueJob, other: DueJob): number {
  const [left, right] = [one, other].map(({ run_at, created_at, id }) => `${run_at} ${created_at} ${id}`);
  return (left as string) < (right as string) ? -1 : 1;
}

async function leaseJob(tx: Tx, holder: LeaseHolder, job: LeasedJob): Promise<LeasedJob | undefined> {
  const { numUpdatedRows } = await tx
    .updateTable('jobs')
    .set({
      leased_until: getLeaseEnd(holder),
      leased_by: holder.instance,
      attempts: sql<number>`attempts + 1`,
    })
    .where('id', '=', job.id)
    .where('leased_by', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n ? job : undefined;
}

/** @returns false if another worker has taken the lease */
export async function extendLease(holder: LeaseHolder, job: LeasedJob): Promise<boolean> {
  return await updateLeasedJob(holder, job, { leased_until: getLeaseEnd(holder) });
}

/** Deletes a job that is done; one that was enqueued again during its run waits for its next turn instead. */
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
      .set({ ...NO_LEASE, turn: null, unclean_ends: 0, crashes: 0 })
      .where((where) => where.and(own))
      .execute();
  });
}

/** Releases a job with its error, to be retried after a pause that doubles each time, up to an hour. */
export async function failJob(holder: LeaseHolder, job: LeasedJob, error: string): Promise<void> {
  const pauseMs = backoffMs(job.attempts + 1, { firstMs: 1_000, maxMs: MAX_PAUSE_MS });
  await updateLeasedJob(holder, job, {
    ...NO_LEASE,
    turn: null,
    unclean_ends: 0,
    run_at: toIsoTime(holder.now() + pauseMs),
    last_error: error.replaceAll('\0', '').slice(0, 2_000),
  });
}

/** Releases a job that was interrupted; it keeps its turn. */
export async function releaseJob(holder: LeaseHolder, job: LeasedJob): Promise<void> {
  await updateLeasedJob(holder, job, { ...NO_LEASE, unclean_ends: 0, attempts: job.attempts });
}

export interface RecoveryOptions {
  /** Ids of the jobs that run in this process: if the clock jumps ahead, their leases look expired. */
  readonly running: readonly string[];
  /** No other process uses the table, so every lease of another one is over. */
  readonly alone: boolean;
}

/**
 * Ends the leases of processes that ended without releasing them. This is not an attempt of the jobs; but it
 * is held against a job that was the only one to run.
 */
export async function recoverLeases(
  { database, instance, now }: LeaseHolder,
  { running, alone }: RecoveryOptions,
): Promise<void> {
  const time = toIsoTime(now());
  await database.transaction().execute(async (tx) => {
    const leases = await tx
      .selectFrom('jobs')
      .select(['id', 'leased_by', 'leased_until'])
      .where('leased_by', 'is not', null)
      .execute();
    const isOver = (until: string | null) => until === null || until < time;
    const holders = new Set(leases.map(({ leased_by }) => leased_by as string));
    holders.delete(instance);
    for (const holder of holders) {
      const held = leases.filter(({ leased_by }) => leased_by === holder);
      // A process that renews any of its leases runs, and releases the others itself.
      if (!alone && !held.every(({ leased_until }) => isOver(leased_until))) continue;
      await tx
        .updateTable('jobs')
        .set({
          ...NO_LEASE,
          attempts: sql<number>`case when attempts > 0 then attempts - 1 else 0 end`,
          unclean_ends: sql<number>`unclean_ends + 1`,
          crashes: sql<number>`crashes + ${held.length === 1 ? 1 : 0}`,
        })
        .where('leased_by', '=', holder)
        .execute();
    }
    // Jobs of this process whose end could not be recorded.
    const lost = leases.filter(
      ({ id, leased_by, leased_until }) =>
        leased_by === instance && isOver(leased_until) && !running.includes(id),
    );
    for (const { id } of lost) await tx.updateTable('jobs').set(NO_LEASE).where('id', '=', id).execute();
  });
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
  readonly turn?: null;
  readonly unclean_ends?: number;
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
