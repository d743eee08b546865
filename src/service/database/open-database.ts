import { followDatabaseClock } from './clock.js';
import type { Database } from './database.js';
import { Notices } from './notices.js';
import { openPostgres } from './postgres.js';
import { openSqlite, type SqliteOptions } from './sqlite.js';

interface OpenDatabaseOptions extends SqliteOptions {
  /** Of a PostgreSQL database; absent for the embedded one. */
  readonly url: string | undefined;
  readonly now: () => number;
  /** Receives errors of connections. */
  readonly onError: (error: Error) => void;
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
  const { url, migrates = true, now, onError, onQuery } = options;
  if (url === undefined) {
    const database = await openSqlite(options);
    return { database, now, close: () => database.destroy() };
  }
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
