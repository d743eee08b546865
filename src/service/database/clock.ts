import { sql } from 'kysely';
import type { Database } from './database.js';

/** A time as it is stored. @param milliseconds since the epoch */
export function toIsoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The clock of this machine, in milliseconds since the epoch. */
export const readClock = () => Date.now();

const MEASURE_MS = 60_000;

/** Clocks of one network agree better than this; a smaller difference is mostly an error of the measurement. */
const TOLERATED_MS = 1_000;

/**
 * Corrects the clock of this machine by the clock of the database, so that services that share one agree when a job is due
 * and when a lease ends.
 */
export async function followDatabaseClock(
  database: Database,
  now: () => number,
): Promise<{ now: () => number; stop: () => void }> {
  let aheadMs = 0;
  const measure = async () => {
    const before = performance.now();
    const { rows } = await sql<{ ms: number }>`
      select cast(extract(epoch from clock_timestamp()) * 1000 as float8) as ms`.execute(database);
    const here = Date.now() - (performance.now() - before) / 2;
    const ms = Math.round((rows[0]?.ms as number) - here);
    aheadMs = Math.abs(ms) < TOLERATED_MS ? 0 : ms;
  };
  await measure();
  // Without the database there is nothing to agree on.
  const timer = setInterval(() => void measure().catch(() => {}), MEASURE_MS).unref();
  return { now: () => now() + aheadMs, stop: () => clearInterval(timer) };
}
