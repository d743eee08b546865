import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import Database from 'libsql';
import { makePrivateDatabase } from '../../disk/private-file.js';
import { migrate } from './migrations.js';
import type { Schema } from './schema.js';

export interface SqliteOptions {
  /** Path of the database file; its folder exists. */
  readonly file: string;
  /** `false` skips fsync: only for data that ends with the process. */
  readonly durable: boolean;
}

/** Opens and migrates the embedded database. */
export async function openSqlite(options: SqliteOptions): Promise<Kysely<Schema>> {
  const database = new Kysely<Schema>({ dialect: sqliteDialect(options) });
  await migrate(database, {
    identity: 'integer primary key autoincrement',
    inAYear: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+365 days')",
  });
  return database;
}

function sqliteDialect(options: SqliteOptions): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new LibsqlDriver(options),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/**
 * Two handles on one file: reads outside a transaction never wait, and transactions, which await between
 * their statements, take turns on the other handle. Every write needs a transaction: outside of one it would
 * block the thread on the lock of a transaction that then cannot continue; `query_only` makes it fail at once.
 */
class LibsqlDriver implements Driver {
  #reader: Database.Database | undefined;
  #writer: Database.Database | undefined;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(readonly options: SqliteOptions) {}

  async init(): Promise<void> {
    this.#writer = openHandle(this.options);
    this.#reader = openHandle(this.options);
    this.#reader.pragma('query_only = ON');
  }

  async acquireConnection(): Promise<LibsqlConnection> {
    return new LibsqlConnection(this.#reader as Database.Database);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const endTurn = await this.#takeTurn();
    try {
      (connection as LibsqlConnection).begin(this.#writer as Database.Database, endTurn);
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    (connection as LibsqlConnection).commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    (connection as LibsqlConnection).rollback();
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#reader?.close();
    this.#writer?.close();
  }

  async #takeTurn(): Promise<() => void> {
    const before = this.#lastTurn;
    let endTurn = () => {};
    this.#lastTurn = new Promise((resolve) => {
      endTurn = resolve;
    });
    await before;
    return endTurn;
  }
}

class LibsqlConnection implements DatabaseConnection {
  #handle: Database.Database;
  #endTurn: () => void = () => {};

  constructor(handle: Database.Database) {
    this.#handle = handle;
  }

  begin(writer: Database.Database, endTurn: () => void): void {
    writer.exec('begin immediate');
    this.#handle = writer;
    this.#endTurn = endTurn;
  }

  commit(): void {
    this.#handle.exec('commit');
    this.#endTurn();
  }

  /** Also called after a failed commit, when SQLite may already have rolled back. */
  rollback(): void {
    try {
      if (this.#handle.inTransaction) this.#handle.exec('rollback');
    } finally {
      this.#endTurn();
    }
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const statement = this.#handle.prepare(query.sql);
    const parameters = query.parameters.map(toStorable);
    if (statement.reader) return { rows: statement.all(parameters) as Row[] };
    const { changes } = statement.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: kysely asks for the method; nothing here streams rows
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('The embedded database does not stream rows.');
  }
}

/** libsql aborts the process on a boolean and truncates a string at NUL, so both are handled before. */
function toStorable(value: unknown): string | number | bigint | Buffer | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string' && value.includes('\0')) {
    throw new TypeError('Text with a NUL character cannot be stored.');
  }
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
    return value;
  }
  if (Buffer.isBuffer(value)) return value;
  throw new TypeError(`A value of type ${typeof value} cannot be stored.`);
}

function openHandle({ file, durable }: SqliteOptions): Database.Database {
  makePrivateDatabase(file);
  const handle = new Database(file, { timeout: 10_000 });
  handle.pragma('journal_mode = WAL');
  handle.pragma(`synchronous = ${durable ? 'FULL' : 'OFF'}`);
  handle.pragma('foreign_keys = ON');
  return handle;
}
