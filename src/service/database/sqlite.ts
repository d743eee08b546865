import { type Dialect, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { Database } from '../../disk/libsql.js';
import { makePrivateDatabase } from '../../disk/private-file.js';
import { DataUnusable } from './data-unusable.js';
import { type QueryObserver, toKyselyLog } from './database.js';
import { LibsqlDriver } from './libsql-driver.js';
import { type EngineWords, migrate, requireNewestSchema, watchSchema } from './migrate.js';
import type { Schema } from './schema.js';

export interface SqliteOptions {
  /** Path of the database file; its folder exists. */
  readonly file: string;
  /** `false` skips fsync: only for data that ends with the process. */
  readonly durable: boolean;
  /** Checks the whole file first, because the last process ended without closing it. */
  readonly verify?: boolean;
  /** `false` refuses data of another release instead of upgrading it; `unchecked` takes any. */
  readonly migrates?: boolean | 'unchecked';
  readonly onQuery?: QueryObserver | undefined;
}

export const SQLITE_WORDS: EngineWords = {
  // A transaction has the file for itself.
  begin: 'select 1',
  // The lock of the data folder keeps others away.
  services: 'null',
  identity: 'integer primary key autoincrement',
  now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
  inAYear: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+365 days')",
  in30Days: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+30 days')",
  char: 'char',
  requestModel: "json_extract(tasks.request, '$.model')",
  // Its rowid is the node's search_key, so that matches are found in the order of the results.
  // The index that makes folded ids unique finds their prefixes, too.
  prefixIndex: 'select 1',
  searchIndex: `create virtual table node_search using fts5 (
    search_text, content='', contentless_delete=1, tokenize='trigram case_sensitive 1')`,
};

/**
 * Opens and migrates the embedded database.
 * @throws DataUnusable
 */
export async function openSqlite(options: SqliteOptions): Promise<Kysely<Schema>> {
  const driver = new LibsqlDriver(options);
  const database = new Kysely<Schema>({
    dialect: sqliteDialect(driver),
    ...toKyselyLog(options.onQuery),
  });
  drivers.set(database, driver);
  try {
    if (options.verify) await verifyFile(database);
    if (options.migrates === false) await requireNewestSchema(database);
    else if (options.migrates !== 'unchecked') await migrate(database, SQLITE_WORDS);
    if (options.migrates !== 'unchecked') watchSchema(driver);
    return database;
  } catch (error) {
    await database.destroy();
    throw toDataUnusable(error, options.file);
  }
}

/** Copies the database as it is at one moment into a new file, while others may use it. */
export function snapshotSqlite(file: string, target: string): void {
  const database = new Database(file, { timeout: 10_000 });
  try {
    database.exec(`vacuum into '${target.replaceAll("'", "''")}'`);
  } catch (error) {
    throw toDataUnusable(error, file);
  } finally {
    database.close();
  }
  makePrivateDatabase(target);
}

const drivers = new WeakMap<Kysely<Schema>, LibsqlDriver>();

/**
 * A number that is another one after every change of the database, by any process.
 * @returns undefined for another kind of database, which cannot tell without a request
 */
export function readRevision(database: Kysely<Schema>): number | undefined {
  return drivers.get(database)?.readRevision();
}

async function verifyFile(database: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(database);
  const found = rows[0]?.quick_check;
  if (found !== 'ok') throw Object.assign(new Error(found), { code: 'SQLITE_CORRUPT' });
}

/** Explains errors that a restart does not solve. */
function toDataUnusable(error: unknown, file: string): unknown {
  const { code, message } = error as { code?: string; message: string };
  const restore = 'Restore the data folder from a copy';
  if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB')
    return new DataUnusable(`${file} is damaged (${message}). ${restore}.`);
  if (code === 'SQLITE_ERROR')
    return new DataUnusable(`The data in ${file} cannot be upgraded (${message}). ${restore}.`);
  return error;
}

function sqliteDialect(driver: LibsqlDriver): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}
