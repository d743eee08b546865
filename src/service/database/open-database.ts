import { sql } from 'kysely';
import type { Database, QueryObserver } from './database.js';
import { Notices } from './notices.js';
import { openPostgres } from './postgres.js';
import { openSqlite, type SqliteOptions } from './sqlite.js';

interface OpenDatabaseOptions {
  /** Of a PostgreSQL database; absent for the embedded one. */
  readonly url: string | undefined;
  readonly embedded: SqliteOptions;
  readonly now: () => number;
  /** Receives errors of connections. */
  readonly onError: (error: Error) => void;
  readonly onQuery: QueryObserver | undefined;
}

/** A database that this service uses, alone or with others. */
interface OpenedDatabase {
  readonly database: Database;
  /** Absent if no other service can use it. */
  readonly notices?: Notices;
  /** The time on which all services agree that use it. */
  readonly now: () => number;
  close(): Promise<void>;
}

/**
 * Opens and migrates a database.
 * @throws DataUnusable
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { url, embedded, now, onError, onQuery } = options;
  if (url === undefined) {
    const database = await openSqlite({ ...embedded, onQuery });
    return { database, now, close: () => database.destroy() };
  }
  const { migrates = true } = embedded;
  const database = await openPostgres({ url, migrates, onError, onQuery });
  const notices = new Notices();
  try {
    await notices.listen(url, onError);
    const clock = await followDatabaseClock(database, now);
    const close = async () => {
      clock.stop();
      await Promise.all([notices.close(), database.destroy()]);
    };
    return { database, notices, now: clock.now, close };
  } catch (error) {
    await notices.close();
    await database.destroy();
    throw error;
  }
}

const MEASURE_MS = 60_000;

/** Clocks of one network agree better than this; a smaller difference is mostly that of the measurement. */
const TOLERATED_MS = 1_000;

/**
 * Corrects the clock of this machine by that of the database, so that services that share one agree when a job is due
 * and when a lease ends.
 */
async function followDatabaseClock(
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
