import type { Insertable, Kysely, KyselyConfig, Selectable, SelectQueryBuilder, Transaction } from 'kysely';
import type { Schema } from './schema.js';

export type Database = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** Told of every statement after it ran. @param ms how long it took */
export type QueryObserver = (sql: string, ms: number) => void;

/** The part of the settings of kysely that tells an observer, if there is one. */
export function toKyselyLog(onQuery: QueryObserver | undefined): Pick<KyselyConfig, 'log'> {
  if (!onQuery) return {};
  return { log: ({ query, queryDurationMillis }) => onQuery(query.sql, queryDurationMillis) };
}

/** Counts what a query without columns finds. */
export async function countRows<Tables, From extends keyof Tables>(
  query: SelectQueryBuilder<Tables, From, unknown>,
): Promise<number> {
  const counting = query.select(({ fn }) => fn.countAll<number>().as('count'));
  const { count } = (await counting.executeTakeFirstOrThrow()) as { readonly count: number };
  return Number(count);
}

export type Row<Table extends keyof Schema> = Selectable<Schema[Table]>;

/** Finds the row that has these values. */
export function findRow<Table extends keyof Schema>(
  database: Database,
  table: Table,
  values: Partial<Row<Table>>,
): Promise<Row<Table> | undefined> {
  // The types of a table and its columns match by name only; here the name is not known.
  const rows = database.selectFrom(table as 'totals').selectAll();
  const found = rows.where((where) => where.and(values as Partial<Row<'totals'>>)).executeTakeFirst();
  return found as Promise<Row<Table> | undefined>;
}

export async function insertRow<Table extends keyof Schema>(
  tx: Tx,
  table: Table,
  values: Insertable<Schema[Table]>,
): Promise<void> {
  await tx.insertInto<keyof Schema>(table).values(values).execute();
}
