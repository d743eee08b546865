import { type RawBuilder, sql } from 'kysely';
import { backoffMs } from '../../wire/backoff.js';
import {
  compileOnce,
  countRows,
  type Database,
  deleteRows,
  executeBuilt,
  type Row,
  type Shape,
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
  /** How many more jobs of a kind may start. */
  readonly free: Readonly<Record<string, number>>;
  /** The kinds whose number is limited together with that of others, in all processes. */
  readonly shared?: Readonly<Record<string, SharedLimit>>;
  /** Ids of the jobs that run in this process. Another one may have ended the lease of one, and not run it yet. */
  readonly running: readonly string[];
  /** Begins a transaction only if a job is due. Jobs whose transaction is still to be committed are not found. */
  readonly looksFirst?: boolean;
}

export interface SharedLimit {
  readonly atOnce: number;
  readonly sharesWith: string;
}

/** Jobs of a kind that are leased at once, so that other services get some too. */
export const MAX_CLAIMED = 10;

/**
 * Leases the next jobs: a suspected one if no other job runs here, else those whose turn it is. While a
 * suspected job waits, no other starts. Indexes find each, however many jobs wait.
 */
export async function claimJobs(
  holder: LeaseHolder,
  { kinds, free, shared = {}, running, looksFirst = false }: ClaimOptions,
): Promise<LeasedJob[]> {
  const now = toIsoTime(holder.now());
  if (looksFirst && (await listDueKinds(holder.database, kinds, now)).length === 0) return [];
  return await changeJobs(holder, async (tx) => {
    const due = await listDueKinds(tx, kinds, now);
    if (due.length === 0) return [];
    const suspected = await findSuspectedJob(tx, kinds, now);
    if (suspected)
      return running.length === 0 ? leaseJobs(tx, holder, [{ ...suspected, isSuspected: true }]) : [];
    // Also for kinds that are not free, so that turns follow the order of arrival.
    if (due.some(({ waiting }) => waiting === 1)) await assignTurns(tx, kinds, now);
    const jobs = [];
    for (const { kind } of due) {
      const places = free[kind];
      if (places === undefined) continue;
      const next = await findNextJobs(tx, { kind, places, running });
      const limit = shared[kind];
      jobs.push(...(limit && next.length > 0 ? next.slice(0, await countPlaces(tx, kind, limit)) : next));
    }
    return leaseJobs(
      tx,
      holder,
      jobs.sort(compareDue).map((job) => ({ ...job, isSuspected: false })),
    );
  });
}

/** The kinds with jobs that are due, and whether some of them wait for a turn. One look at two indexes for each kind. */
async function listDueKinds(database: Database, kinds: readonly string[], now: string) {
  if (kinds.length === 0) return [];
  const shape = { shape: `due ${kinds}`, values: [now] };
  const build = () => sql`with given (kind) as (
      values ${sql.join(kinds.map((kind) => sql`(${sql.lit(kind)})`))}
    ), found as (
      select given.kind as kind,
        (select 1 from jobs where jobs.kind = given.kind and turn is null and leased_by is null
          and run_at <= ${now} limit 1) as waiting,
        (select 1 from jobs where jobs.kind = given.kind and turn is not null and leased_by is null
          limit 1) as ready
      from given
    ) select kind, waiting from found where waiting = 1 or ready = 1`;
  const { rows } = await executeBuilt<{ kind: string; waiting: number | null }>(database, shape, build);
  return rows;
}

/** Every change locks its rows first, so on PostgreSQL it sees their newest state and conflicts with none. */
function changeJobs<Result>({ database }: LeaseHolder, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const transaction = database.transaction();
  return (isPostgres(database) ? transaction.setIsolationLevel('read committed') : transaction).execute(work);
}

type DueJob = Pick<
  Row<'jobs'>,
  'id' | 'kind' | 'key' | 'owner' | 'attempts' | 'crashes' | 'run_at' | 'created_at'
>;

/** Selects jobs that no worker has leased. On PostgreSQL, others skip them until the end of the transaction. */
async function selectDueJobs(tx: Tx, shape: Shape, which: () => RawBuilder<unknown>): Promise<DueJob[]> {
  const build = () => sql<DueJob>`select id, kind, key, owner, attempts, crashes, run_at, created_at from jobs
    where leased_by is null and ${which()} ${sql.raw(isPostgres(tx) ? 'for update skip locked' : '')}`;
  return (await executeBuilt<DueJob>(tx, shape, build)).rows;
}

/** Once may be an accident; a job that was running at two unclean ends in a row is suspected. */
async function findSuspectedJob(tx: Tx, kinds: readonly string[], now: string): Promise<DueJob | undefined> {
  const shape = { shape: `suspected ${kinds.length}`, values: [...kinds, now] };
  // The column alone would make SQLite read all jobs of these kinds instead of the few in `jobs_suspected`.
  const jobs = await selectDueJobs(
    tx,
    shape,
    () => sql`unclean_ends > 1 and kind || '' in (${sql.join(kinds)}) and run_at <= ${now}
      order by created_at limit 1`,
  );
  return jobs[0];
}

function findNextJobs(
  tx: Tx,
  { kind, places, running }: { kind: string; places: number } & Pick<ClaimOptions, 'running'>,
): Promise<DueJob[]> {
  const limit = Math.min(places, MAX_CLAIMED);
  const shape = { shape: `next beside ${running.length}`, values: [kind, ...running, limit] };
  const others = () => (running.length > 0 ? sql`and id not in (${sql.join(running)})` : sql``);
  return selectDueJobs(
    tx,
    shape,
    () => sql`kind = ${kind} and turn is not null ${others()}
      order by priority, turn, created_at, id limit ${limit}`,
  );
}

/** How many more jobs of a kind may start in all processes. */
async function countPlaces(tx: Tx, kind: string, { atOnce, sharesWith }: SharedLimit): Promise<number> {
  // One process after the other, or two would take the same place.
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(7719)`.execute(tx);
  const taken = tx
    .selectFrom('jobs')
    .where((where) =>
      where.or([
        where('kind', '=', sharesWith),
        where.and([where('kind', '=', kind), where('leased_by', 'is not', null)]),
      ]),
    );
  return Math.max(0, atOnce - (await countRows(taken)));
}

/** Between kinds, the job that has been due longest comes first. */
function compareDue(one: DueJob, other: DueJob): number {
  const [left, right] = [one, other].map(({ run_at, created_at, id }) => `${run_at} ${created_at} ${id}`);
  return (left as string) < (right as string) ? -1 : 1;
}

/** @param jobs that the transaction keeps from others */
async function leaseJobs(tx: Tx, holder: LeaseHolder, jobs: LeasedJob[]): Promise<LeasedJob[]> {
  if (jobs.length === 0) return jobs;
  const lease = { leased_until: getLeaseEnd(holder), leased_by: holder.instance };
  const ids = jobs.map(({ id }) => id);
  const attempts = sql<number>`attempts + 1`;
  const shape = { shape: `lease ${ids.length}`, values: [...Object.values(lease), ...ids] };
  await executeBuilt(tx, shape, () =>
    tx
      .updateTable('jobs')
      .set({ ...lease, attempts })
      .where('id', 'in', ids),
  );
  return jobs;
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

function getLeaseEnd({ now, leaseMs = 60_000 }: LeaseHolder): string {
  return toIsoTime(now() + leaseMs);
}

function toIsoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
