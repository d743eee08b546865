import { sql } from 'kysely';
import { DataUnusable } from '../database/data-unusable.js';
import { countRows, type Database, type Tx } from '../database/database.js';
import { isPostgres } from '../database/postgres.js';

export async function isEmpty(database: Database): Promise<boolean> {
  return (await database.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined;
}

/**
 * Copies all rows to an empty database, from an embedded one to PostgreSQL or back.
 * @param from a database that does not change during the copy, or a transaction that sees one moment
 * @returns how many
 */
export async function copyRows(from: Database, to: Database): Promise<number> {
  const tables = await listTables(isPostgres(from) ? to : from);
  return to.transaction().execute(async (tx) => {
    if (!(await isEmpty(tx))) throw new DataUnusable('The database has been used by a service.');
    for (const table of tables.toReversed()) await sql`delete from ${sql.table(table)}`.execute(tx);
    let rows = 0;
    for (const table of tables) {
      const copied = await copyTable(from, tx, table);
      const counted = await countRows(tx.selectFrom(table as 'totals'));
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

/** Lists the tables with data of an embedded database so that each comes after those that it refers to. */
async function listTables(database: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'
    and name not in ('migrations', 'storages') and name not like 'sqlite%' and name not like 'node_search%' order by rowid`.execute(
    database,
  );
  return rows.map(({ name }) => name);
}

/** Rows that are written with one statement. */
const PAGE = 200;

/** @returns how many rows */
async function copyTable(from: Database, tx: Tx, table: string): Promise<number> {
  let copied = 0;
  // Where each row lies: in the order of its insertion, and the same while the copy is made.
  const place = sql.raw(isPostgres(from) ? 'ctid' : 'rowid');
  for (let after: unknown = isPostgres(from) ? '(0,0)' : Number.MIN_SAFE_INTEGER; ; ) {
    const { rows } = await sql<Record<string, unknown>>`select ${place} as position, *
      from ${sql.table(table)} where ${place} > ${after} order by ${place} limit ${PAGE}`.execute(from);
    if (rows.length === 0) break;
    after = rows.at(-1)?.position;
    const values = rows.map(({ position: _, ...row }) => row);
    await tx
      .insertInto(table as never)
      .values(values as never)
      .execute();
    copied += rows.length;
  }
  if (isPostgres(tx)) await continueNumbers(tx, table);
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
