import { sql } from 'kysely';
import { backoffMs } from '../../wire/backoff.js';
import { toIsoTime } from '../database/clock.js';
import {
  compileOnce,
  type Database,
  deleteRows,
  type Row,
  type Tx,
  updateRows,
} from '../database/database.js';
import { isPostgres } from '../database/postgres.js';
import { type Job, LeaseLost } from './queue.js';
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
export interface LeaseHolder {
  readonly database: Database;
  readonly now: () => number;
  readonly instance: string;
  readonly leaseMs?: number;
}

const MAX_PAUSE_MS = 60 * 60_000;

/** Every change locks its rows first, so on PostgreSQL it sees their newest state and conflicts with none. */
export function changeJobs<Result>(
  { database }: LeaseHolder,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const transaction = database.transaction();
  return (isPostgres(database) ? transaction.setIsolationLevel('read committed') : transaction).execute(work);
}

/** @returns false if another worker has taken the lease */
export async function extendLease(holder: LeaseHolder, job: LeasedJob): Promise<boolean> {
  return await updateLeasedJob(holder, job, { leased_until: getLeaseEnd(holder) });
}

const findHeld = compileOnce((tx, id: string, instance: string) =>
  tx
    .selectFrom('jobs')
    .select('id')
    .where('id', '=', id)
    .where('leased_by', '=', instance)
    .$if(isPostgres(tx), (query) => query.forUpdate()),
);

/**
 * Keeps other workers from taking a job before the transaction ends.
 * @throws LeaseLost
 */
export async function requireLease(
  tx: Tx,
  { instance }: Pick<LeaseHolder, 'instance'>,
  job: LeasedJob,
): Promise<void> {
  const [held] = await findHeld(tx, job.id, instance);
  if (!held) throw new LeaseLost(`Another worker has taken the job ${job.kind} ${job.key}.`);
}

/**
 * Deletes a job that is done; one that was enqueued again during its run waits for its next turn instead.
 * @param again when it runs again instead; milliseconds since the epoch
 */
export async function completeJob(holder: LeaseHolder, job: LeasedJob, again?: number): Promise<void> {
  await changeJobs(holder, async (tx) => {
    // Of jobs enqueued since, while this turn still counts; an embedded database has given them on waking up.
    if (isPostgres(tx) && again === undefined) await assignTurns(tx, [job.kind], toIsoTime(holder.now()));
    const own = { id: job.id, leased_by: holder.instance };
    const unchanged = { ...own, attempts: job.attempts + 1 };
    const released = { ...NO_LEASE, turn: null, unclean_ends: 0, crashes: 0 };
    const ended =
      again === undefined
        ? await deleteRows(tx, 'jobs', unchanged)
        : await updateRows(tx, 'jobs', unchanged, { ...released, run_at: toIsoTime(again), attempts: 0 });
    if (ended === 0) await updateRows(tx, 'jobs', own, released);
  });
}

/**
 * Releases a job with its error, to be retried after a pause that doubles each time, up to an hour; one that was enqueued
 * again during its run is due as that says.
 */
export async function failJob(holder: LeaseHolder, job: LeasedJob, error: string): Promise<void> {
  const pauseMs = backoffMs(job.attempts + 1, { firstMs: 1_000, maxMs: MAX_PAUSE_MS });
  const last_error = error.replaceAll('\0', '').slice(0, 2_000);
  const failed = { ...NO_LEASE, turn: null, unclean_ends: 0, last_error };
  await changeJobs(holder, async (tx) => {
    const own = { id: job.id, leased_by: holder.instance };
    const unchanged = { ...own, attempts: job.attempts + 1 };
    const run_at = toIsoTime(holder.now() + pauseMs);
    const paused = await updateRows(tx, 'jobs', unchanged, { ...failed, run_at });
    if (paused === 0) await updateRows(tx, 'jobs', own, failed);
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
export async function recoverLeases(holder: LeaseHolder, { running, alone }: RecoveryOptions): Promise<void> {
  const { instance } = holder;
  const time = toIsoTime(holder.now());
  await changeJobs(holder, async (tx) => {
    const leases = await tx
      .selectFrom('jobs')
      .select(['id', 'leased_by', 'leased_until'])
      .where('leased_by', 'is not', null)
      .execute();
    const isOver = (until: string | null) => until === null || until < time;
    const others = new Set(leases.map(({ leased_by }) => leased_by as string));
    others.delete(instance);
    for (const other of others) {
      const held = leases.filter(({ leased_by }) => leased_by === other);
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
        .where('leased_by', '=', other)
        // Of those that were renewed since, the process goes on.
        .$if(!alone, (query) => query.where(({ fn, val }) => fn.coalesce('leased_until', val('')), '<', time))
        .execute();
    }
    // Jobs of this process whose end could not be recorded.
    const lost = leases.filter(
      ({ id, leased_by, leased_until }) =>
        leased_by === instance && isOver(leased_until) && !running.includes(id),
    );
    if (lost.length > 0) await updateRows(tx, 'jobs', { id: lost.map(({ id }) => id) }, NO_LEASE);
  });
}

/** Corrects times set while the clock was ahead: beyond the longest pause of a retry or delay of a job. */
export async function limitDelays(holder: LeaseHolder, maxDelayMs: number): Promise<void> {
  const { now } = holder;
  const longest = toIsoTime(now() + maxDelayMs);
  await changeJobs(holder, async (tx) => {
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

async function updateLeasedJob(
  holder: LeaseHolder,
  { id }: LeasedJob,
  change: Partial<Row<'jobs'>>,
): Promise<boolean> {
  const own = { id, leased_by: holder.instance };
  return (await changeJobs(holder, (tx) => updateRows(tx, 'jobs', own, change))) === 1;
}

/** When a lease ends that begins or is renewed now. */
export function getLeaseEnd({ now, leaseMs = 60_000 }: LeaseHolder): string {
  return toIsoTime(now() + leaseMs);
}
