import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type Libsql from 'libsql';
import { Database } from '../../disk/libsql.js';
import { makePrivateDatabase } from '../../disk/private-file.js';
import { StoreLost } from './data-unusable.js';

interface FileOptions {
  /** Path of the database file; its folder exists. */
  readonly file: string;
  /** `false` skips fsync: only for data that ends with the process. */
  readonly durable: boolean;
}

/**
 * Two handles on one file: reads outside a transaction never wait, and transactions, which await between
 * their statements, take turns on the other handle. Every write needs a transaction: outside of one it would
 * block the thread on the lock of a transaction that then cannot continue; `query_only` makes it fail at once.
 */
export class LibsqlDriver implements Driver {
  #reader: Handle | undefined;
  #writer: Handle | undefined;
  #revision: Libsql.Statement | undefined;
  #files: ReadonlyMap<string, string | undefined> = new Map();
  #lastTurn: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(readonly options: FileOptions) {}

  async init(): Promise<void> {
    this.#writer = new Handle(this.options);
    this.#reader = new Handle(this.options);
    this.#reader.database.pragma('query_only = ON');
    this.#revision = this.#reader.database.prepare('pragma data_version').raw(true);
    const { file } = this.options;
    this.#files = new Map([file, `${file}-wal`].map((path) => [path, identifyFile(path)]));
  }

  readRevision(): number {
    const [revision] = (this.#revision as Libsql.Statement).get() as [number];
    return revision;
  }

  async acquireConnection(): Promise<LibsqlConnection> {
    return new LibsqlConnection(this.#reader as Handle);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const endTurn = await this.#takeTurn();
    try {
      if (this.#isClosing) throw new DatabaseClosed();
      this.#requireFiles();
      (connection as LibsqlConnection).begin(this.#writer as Handle, endTurn);
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

  /**
   * Transactions that wait for their turn fail now. The one that runs has a second to end, then it is rolled back
   * and its statements fail: libsql aborts the process if a closed database is used.
   */
  async destroy(): Promise<void> {
    this.#isClosing = true;
    await Promise.race([this.#lastTurn, pause(LAST_TRANSACTION_MS, undefined, { ref: false })]);
    this.#reader?.close();
    const writer = this.#writer;
    if (!writer) return;
    try {
      writer.rollback();
      // A copy of the database file alone is then complete.
      writer.database.pragma('wal_checkpoint(TRUNCATE)');
    } catch {
      // There may be no space for it; the next start reads both files.
    } finally {
      writer.close();
    }
  }

  /** SQLite goes on with a file that was removed or replaced, and everything written to it would be lost. */
  #requireFiles(): void {
    for (const [path, identity] of this.#files) {
      if (identity !== undefined && identifyFile(path) !== identity) throw new StoreLost(path);
    }
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
  #handle: Handle;
  #endTurn: () => void = () => {};

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  begin(writer: Handle, endTurn: () => void): void {
    writer.run('begin immediate');
    this.#handle = writer;
    this.#endTurn = endTurn;
  }

  commit(): void {
    this.#handle.run('commit');
    this.#endTurn();
  }

  /** Also called after a failed commit, when SQLite may already have rolled back. */
  rollback(): void {
    try {
      this.#handle.rollback();
    } finally {
      this.#endTurn();
    }
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#handle.execute(query.sql, query.parameters.map(toStorable));
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

type Run = <Row>(parameters: unknown[]) => QueryResult<Row>;

/** Statements that stay prepared, per handle. */
const MAX_PREPARED = 300;

/** How long the transaction that runs may go on when the database is closed. */
const LAST_TRANSACTION_MS = 1_000;

/** Something wanted to go on with a database that its service has closed. */
class DatabaseClosed extends Error {
  constructor() {
    super('The database is closed.');
  }
}

/** One connection to the file, with its prepared statements. */
class Handle {
  readonly database: Libsql.Database;
  readonly #prepared = new Map<string, Run>();
  #isClosed = false;

  constructor({ file, durable }: FileOptions) {
    makePrivateDatabase(file);
    this.database = new Database(file, { timeout: 10_000 });
    this.database.pragma('journal_mode = WAL');
    this.database.pragma(`synchronous = ${durable ? 'FULL' : 'OFF'}`);
    this.database.pragma('foreign_keys = ON');
  }

  close(): void {
    this.#isClosed = true;
    this.database.close();
  }

  run(statement: 'begin immediate' | 'commit'): void {
    this.#requireOpen();
    this.database.exec(statement);
  }

  /** A transaction that SQLite has rolled back already stays so. */
  rollback(): void {
    if (!this.#isClosed && this.database.inTransaction) this.database.exec('rollback');
  }

  execute<Row>(text: string, parameters: unknown[]): QueryResult<Row> {
    this.#requireOpen();
    const run = this.#prepared.get(text) ?? this.#prepare(text);
    // The one that was used longest ago is the first.
    this.#prepared.delete(text);
    this.#prepared.set(text, run);
    if (this.#prepared.size > MAX_PREPARED)
      this.#prepared.delete(this.#prepared.keys().next().value as string);
    return run(parameters);
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new DatabaseClosed();
  }

  #prepare(text: string): Run {
    const statement = this.database.prepare(text);
    if (!statement.reader) {
      return (parameters) => ({ rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) });
    }
    const columns = statement.columns().map(({ name }) => name);
    if (/^(select|with)\b/i.test(text) && new Set(columns).size === columns.length)
      return prepareSafeRead(this.database, text, columns);
    return <Row>(parameters: unknown[]) => ({ rows: statement.all(parameters) as Row[] });
  }
}

/**
 * libsql aborts the process on text that is not valid UTF-8, which a damaged file may have, so all rows are read
 * as one value of bytes. This is also as fast, because each value that libsql converts takes long.
 */
function prepareSafeRead(database: Libsql.Database, text: string, columns: readonly string[]): Run {
  const values = columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');
  const statement = database
    .prepare(`select cast(json_group_array(json_array(${values})) as blob) from (${text})`)
    .raw(true);
  return <Row>(parameters: unknown[]) => {
    const [[bytes]] = statement.all(parameters) as [[ArrayBuffer]];
    if (!isUtf8(bytes)) {
      const message = 'The database returned text that is not valid UTF-8; the file may be damaged.';
      throw Object.assign(new Error(message), { code: 'SQLITE_CORRUPT' });
    }
    const rows = JSON.parse(Buffer.from(bytes).toString()) as unknown[][];
    const toRow = (row: unknown[]) => Object.fromEntries(columns.map((name, at) => [name, row[at]])) as Row;
    return { rows: rows.map(toRow) };
  };
}

/** Distinguishes a file from another one at the same path; undefined if there is none. */
function identifyFile(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}
