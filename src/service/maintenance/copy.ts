import { join } from 'node:path';
import { sql } from 'kysely';
import { type ConfigurationInput, parseConfiguration } from '../configuration/configuration.js';
import type { Environment } from '../configuration/secret-source.js';
import { DataUnusable } from '../database/data-unusable.js';
import type { Database, Tx } from '../database/database.js';
import { openPostgres } from '../database/postgres.js';
import { openSqlite } from '../database/sqlite.js';
import { openDataFolder, requireDatabase } from '../storage/data-folder.js';
import { createDiskStorage } from '../storage/disk.js';
import { openStorage } from '../storage/open-storage.js';
import { ObjectMissing, type Storage } from '../storage/storage.js';
import { BackupRefused } from './backup.js';
import { checkStore, type StoreReport } from './check-store.js';
import { listExpectedObjects } from './expected-objects.js';

export interface CopyReport extends StoreReport {
  /** Rows of all tables. */
  readonly rows: number;
}

/**
 * Copies a stopped data folder to the PostgreSQL database of a configuration, which holds nothing yet, and to its
 * storage. Checks the copy: as many rows in each table, and every object with its digest.
 * @throws BackupRefused, DataUnusable, FolderInUse, InvalidConfiguration
 */
export async function copyFolder(
  data: string,
  input: ConfigurationInput,
  env: Environment,
): Promise<CopyReport> {
  const configuration = parseConfiguration(input, env);
  const { database: url, data: target, storage } = configuration;
  if (url === undefined)
    throw new BackupRefused(
      'The configuration names no PostgreSQL database; set database, or use serve backup.',
    );
  if (storage === undefined && target === undefined)
    throw new BackupRefused('The configuration names no place for files; set storage or data.');
  requireDatabase(data);
  const source = openDataFolder(data);
  try {
    const from = await openSqlite({ file: join(data, 'regen.db'), durable: true, verify: true });
    try {
      const to = await openPostgres({ url, onError: () => {} });
      try {
        const places = { objects: join(target ?? data, 'objects'), scratch: join(data, 'scratch'), env };
        const objects = await openStorage(configuration, places);
        await requireEmpty(to);
        // Before the rows, so that it can be repeated if it fails.
        await copyObjects(from, createDiskStorage(join(data, 'objects')), objects);
        const rows = await copyRows(from, to);
        return { rows, ...(await checkStore(to, objects)) };
      } finally {
        await to.destroy();
      }
    } finally {
      await from.destroy();
    }
  } finally {
    source.release();
  }
}

/** @returns how many */
async function copyRows(from: Database, to: Database): Promise<number> {
  const tables = await listTables(from);
  return to.transaction().execute(async (tx) => {
    await requireEmpty(tx);
    for (const table of tables.toReversed()) await sql`delete from ${sql.table(table)}`.execute(tx);
    let rows = 0;
    for (const table of tables) {
      const copied = await copyTable(from, tx, table);
      const counted = await countRows(tx, table);
      if (copied !== counted)
        throw new DataUnusable(
          `${counted} of ${copied} rows of the table ${table} were copied; nothing was kept.`,
        );
      rows += counted;
    }
    await sql`insert into node_search (rowid, search_text)
      select search_key, search_text from nodes where search_key is not null`.execute(tx);
    return rows;
  });
}

/** Lists the tables of an embedded database so that each comes after those that it refers to. */
async function listTables(database: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'
    and name <> 'migrations' and name not like 'sqlite%' and name not like 'node_search%' order by rowid`.execute(
    database,
  );
  return rows.map(({ name }) => name);
}

async function requireEmpty(database: Database): Promise<void> {
  const user = await database.selectFrom('users').select('id').limit(1).executeTakeFirst();
  if (user)
    throw new BackupRefused('The PostgreSQL database has been used by a service; choose an empty one.');
}

/** Rows that are written with one statement. */
const PAGE = 200;

/** @returns how many rows */
async function copyTable(from: Database, tx: Tx, table: string): Promise<number> {
  let [copied, after] = [0, Number.MIN_SAFE_INTEGER];
  for (;;) {
    const { rows } = await sql<Record<string, unknown> & { position: number }>`select rowid as position, *
      from ${sql.table(table)} where rowid > ${after} order by rowid limit ${PAGE}`.execute(from);
    if (rows.length === 0) break;
    after = rows.at(-1)?.position as number;
    const values = rows.map(({ position: _, ...row }) => row);
    await tx
      .insertInto(table as never)
      .values(values as never)
      .execute();
    copied += rows.length;
  }
  await continueNumbers(tx, table);
  return copied;
}

/** The next row gets the number after the highest that was copied. */
async function continueNumbers(tx: Tx, table: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = ${table} and is_identity = 'YES'`.execute(tx);
  for (const { name } of rows)
    await sql`select setval(pg_get_serial_sequence(${table}, ${name}),
      (select coalesce(max(${sql.ref(name)}), 0) + 1 from ${sql.table(table)}), false)`.execute(tx);
}

async function countRows(tx: Tx, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
    tx,
  );
  return rows[0]?.count as number;
}

/** No object is larger; each was checked when it was stored. */
const MAX_OBJECT_BYTES = Number.MAX_SAFE_INTEGER;

async function copyObjects(database: Database, from: Storage, to: Storage): Promise<void> {
  for await (const { key } of listExpectedObjects(database)) {
    try {
      await to.write(key, await from.read(key), MAX_OBJECT_BYTES);
    } catch (error) {
      // The check that follows names what is missing and needed.
      if (!(error instanceof ObjectMissing)) throw error;
    }
  }
}
