import { type RawBuilder, sql } from 'kysely';
import { toIsoTime } from '../database/clock.js';
import { countRows, type Database, executeBuilt, type Row, type Tx } from '../database/database.js';
import { isPostgres } from '../database/postgres.js';
import { changeJobs, getLeaseEnd, type LeasedJob, type LeaseHolder } from './leases.js';
import type { JobKind } from './queue.js';
import { assignTurns } from './turns.js';

export interface ClaimOptions {
  /** The kinds that this process runs, and how many more of each may start here. */
  readonly kinds: Readonly<Record<string, ClaimedKind>>;
  /** Ids of the jobs that run in this process. Another one may have ended the lease of one, and not run it yet. */
  readonly running: readonly string[];
  /** Begins a transaction only if a job is due. Jobs whose transaction is still to be committed are not found. */
  readonly looksFirst?: boolean;
}

type ClaimedKind = Pick<JobKind, 'atOnce' | 'sharesWith'> & { readonly places: number };

/** Jobs of a kind that are leased at once, so that other services get some too. */
export const MAX_CLAIMED = 10;

/**
 * Leases the next jobs: a suspected one if no other job runs here, else those whose turn it is. While a
 * suspected job waits, no other starts. Indexes find each, however many jobs wait.
 */
export async function claimJobs(
  holder: LeaseHolder,
  { kinds, running, looksFirst = false }: ClaimOptions,
): Promise<LeasedJob[]> {
  const now = toIsoTime(holder.now());
  const names = Object.keys(kinds);
  if (looksFirst && (await listDueKinds(holder.database, names, now)).length === 0) return [];
  return await changeJobs(holder, async (tx) => {
    const due = await listDueKinds(tx, names, now);
    if (due.some(({ suspected }) => suspected)) {
      if (running.length > 0) return [];
      const suspected = await leaseSuspected(tx, holder, names, now);
      if (suspected.length > 0) return suspected;
    }
    // Also for kinds that are not free, so that turns follow the order of arrival.
    if (due.some(({ waiting }) => waiting)) await assignTurns(tx, names, now);
    const places = [];
    for (const { kind } of due) {
      const count = await countPlaces(tx, kind, kinds[kind] as ClaimedKind);
      if (count > 0) places.push({ kind, count });
    }
    return places.length > 0 ? leaseNext(tx, holder, places, running) : [];
  });
}

interface DueKind {
  readonly kind: string;
  /** Some of its jobs wait for a turn. */
  readonly waiting: number | null;
  readonly suspected: number | null;
}

/** The kinds with jobs that are due. One look at three indexes for each kind. */
async function listDueKinds(database: Database, kinds: readonly string[], time: string): Promise<DueKind[]> {
  if (kinds.length === 0) return [];
  // The column alone would make SQLite read all jobs of a kind instead of the few in `jobs_suspected`.
  const build = (now: string) => sql`with given (kind) as (
      values ${sql.join(kinds.map((kind) => sql`(${sql.lit(kind)})`))}
    ), found as (
      select given.kind as kind,
        (select 1 from jobs where jobs.kind = given.kind and turn is null and leased_by is null
          and run_at <= ${now} limit 1) as waiting,
        (select 1 from jobs where jobs.kind = given.kind and turn is not null and leased_by is null
          limit 1) as ready,
        (select 1 from jobs where jobs.kind || '' = given.kind and unclean_ends > 1 and leased_by is null
          and run_at <= ${now} limit 1) as suspected
      from given
    ) select kind, waiting, suspected from found where waiting = 1 or ready = 1`;
  return (await executeBuilt<DueKind, [string]>(database, `due ${kinds}`, [time], build)).rows;
}

/** How many more jobs of a kind may start: in this process, and if it shares a limit, in all. */
async function countPlaces(
  tx: Tx,
  kind: string,
  { places, atOnce, sharesWith }: ClaimedKind,
): Promise<number> {
  const most = Math.min(places, MAX_CLAIMED);
  if (!sharesWith || most <= 0) return most;
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
  return Math.min(most, atOnce - (await countRows(taken)));
}

/** Leases a job that was running at two unclean ends in a row: once may be an accident. */
function leaseSuspected(
  tx: Tx,
  holder: LeaseHolder,
  kinds: readonly string[],
  time: string,
): Promise<LeasedJob[]> {
  const choose = (now: string) => sql`select id from jobs
    where leased_by is null and unclean_ends > 1 and kind || '' in (${sql.join(kinds.map(sql.lit))}) and run_at <= ${now}
    order by created_at limit 1 ${skipLocked(tx)}`;
  return lease(tx, holder, { shape: `suspected ${kinds}`, values: [time], choose, isSuspected: true });
}

/** Leases the jobs of kinds whose turn it is. */
function leaseNext(
  tx: Tx,
  holder: LeaseHolder,
  places: readonly { readonly kind: string; readonly count: number }[],
  running: readonly string[],
): Promise<LeasedJob[]> {
  const choose = (others: string, ...counts: number[]) => {
    const chosen = places.map(
      ({ kind }, at) => sql`select id from (select id from jobs
        where leased_by is null and kind = ${sql.lit(kind)} and turn is not null
          and cast(${others} as text) not like '%' || id || '%'
        order by priority, turn, created_at, id limit ${counts[at]} ${skipLocked(tx)}) as next`,
    );
    return sql.join(chosen, sql` union all `);
  };
  const values: [string, ...number[]] = [running.join(), ...places.map(({ count }) => count)];
  const shape = `next ${places.map(({ kind }) => kind)}`;
  return lease(tx, holder, { shape, values, choose, isSuspected: false });
}

/** On PostgreSQL, others skip what one chose until the end of its transaction. */
function skipLocked(tx: Tx): RawBuilder<unknown> {
  return sql.raw(isPostgres(tx) ? 'for update skip locked' : '');
}

type ClaimedJob = Omit<LeasedJob, 'isSuspected'> & Pick<Row<'jobs'>, 'run_at' | 'created_at'>;

/** @param choose selects the ids of jobs; materialized, so that PostgreSQL selects once */
async function lease<Values extends readonly unknown[]>(
  tx: Tx,
  holder: LeaseHolder,
  chosen: {
    readonly shape: string;
    readonly values: Values;
    readonly choose: (...values: Values) => RawBuilder<unknown>;
    readonly isSuspected: boolean;
  },
): Promise<LeasedJob[]> {
  const { shape, values, choose, isSuspected } = chosen;
  const { rows } = await executeBuilt<ClaimedJob, [string, string, ...Values]>(
    tx,
    shape,
    [holder.instance, getLeaseEnd(holder), ...values],
    (instance, until, ...given) => sql`update jobs
      set leased_by = ${instance}, leased_until = ${until}, attempts = attempts + 1
      where id in (with chosen as materialized (${choose(...given)}) select id from chosen)
      returning id, kind, key, owner, attempts - 1 as attempts, crashes, run_at, created_at`,
  );
  return rows.sort(compareDue).map((job) => ({ ...job, isSuspected }));
}

/** Between kinds, the job that has been due longest comes first. */
function compareDue(one: ClaimedJob, other: ClaimedJob): number {
  const [left, right] = [one, other].map(({ run_at, created_at, id }) => `${run_at} ${created_at} ${id}`);
  return (left as string) < (right as string) ? -1 : 1;
}
