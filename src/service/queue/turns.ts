import { sql } from 'kysely';
import { executeBuilt, type Tx } from '../database/database.js';
import { isPostgres } from '../database/postgres.js';

/**
 * Gives turns to the jobs of these kinds that became due. The jobs of one owner get turns in a row, from the
 * one after the turn that runs now; each turn has at most one job of an owner. So an owner with one job waits for
 * one job of an owner with a thousand, and owners who enqueue one job after the other do not get ahead of them.
 * @param now ISO 8601
 */
export async function assignTurns(tx: Tx, kinds: readonly string[], now: string): Promise<void> {
  if (isPostgres(tx)) {
    if (!(await isAnyWaiting(tx, kinds, now))) return;
    // One service after the other, or two would give the same turn.
    await sql`select pg_advisory_xact_lock(7718)`.execute(tx);
  }
  const build = (now: string, ...kinds: string[]) => sql`update jobs set turn = given.turn from (
      select due.id as id,
        row_number() over (
          partition by due.kind, due.priority, due.owner order by due.run_at, due.created_at, due.id
        ) - 1 + case when due.next > due.own_next then due.next else due.own_next end as turn
      from (
        select waiting.*,
          coalesce(
            (select max(running.turn) + 1 from jobs as running where running.kind = waiting.kind
              and running.priority = waiting.priority and running.leased_by is not null),
            (select ready.turn from jobs as ready where ready.kind = waiting.kind
              and ready.priority = waiting.priority and ready.turn is not null and ready.leased_by is null
              order by ready.turn limit 1),
            0) as next,
          coalesce(
            (select own.turn + 1 from jobs as own where own.owner = waiting.owner and own.kind = waiting.kind
              and own.priority = waiting.priority and own.turn is not null order by own.turn desc limit 1),
            0) as own_next
        from jobs as waiting
        where waiting.kind in (${sql.join(kinds)}) and waiting.run_at <= ${now}
          and waiting.turn is null and waiting.leased_by is null
      ) as due
    ) as given where jobs.id = given.id`;
  await executeBuilt<unknown, [string, ...string[]]>(tx, `turns ${kinds.length}`, [now, ...kinds], build);
}

async function isAnyWaiting(tx: Tx, kinds: readonly string[], now: string): Promise<boolean> {
  const waiting = await tx
    .selectFrom('jobs')
    .select('id')
    .where('kind', 'in', kinds)
    .where('run_at', '<=', now)
    .where('turn', 'is', null)
    .where('leased_by', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return waiting !== undefined;
}
