import type {
  ExpressionBuilder,
  Insertable,
  Kysely,
  KyselyConfig,
  Selectable,
  SelectQueryBuilder,
  Transaction,
  Updateable,
} from 'kysely';
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

/** What rows have in their columns: a value, or one of a list. */
type Match<Table extends keyof Schema> = {
  readonly [Column in keyof Row<Table>]?: Row<Table>[Column] | readonly Row<Table>[Column][];
};

// The types of a table and its columns match by name only; in these functions the name is not known.
type AnyTable = 'totals';

function matchRows(match: object) {
  return (where: ExpressionBuilder<Schema, AnyTable>) =>
    where.and(
      Object.entries(match).map(([column, value]) =>
        where(column as 'name', Array.isArray(value) ? 'in' : value === null ? 'is' : '=', value),
      ),
    );
}

/** Finds the row that has these values. */
export function findRow<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
): Promise<Row<Table> | undefined> {
  const rows = database
    .selectFrom(table as AnyTable)
    .selectAll()
    .where(matchRows(match));
  return rows.executeTakeFirst() as Promise<Row<Table> | undefined>;
}

/** Finds a row that exists. */
export async function getRow<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
): Promise<Row<Table>> {
  const row = await findRow(database, table, match);
  if (row) return row;
  throw new Error(`No row of ${table} has these values.`);
}

export async function insertRow<Table extends keyof Schema>(
  tx: Tx,
  table: Table,
  values: Insertable<Schema[Table]>,
): Promise<void> {
  await tx.insertInto<keyof Schema>(table).values(values).execute();
}

/** @returns how many rows it changed */
export async function updateRows<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
  changes: Updateable<Schema[Table]>,
): Promise<number> {
  const rows = database.updateTable(table as AnyTable).where(matchRows(match));
  return Number((await rows.set(changes as Updateable<Schema[AnyTable]>).executeTakeFirst()).numUpdatedRows);
}

/** @returns how many rows it removed */
export async function deleteRows<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
): Promise<number> {
  const rows = database.deleteFrom(table as AnyTable).where(matchRows(match));
  return Number((await rows.executeTakeFirst()).numDeletedRows);
}
