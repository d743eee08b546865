import type {
  Compilable,
  CompiledQuery,
  Expression,
  ExpressionBuilder,
  Insertable,
  Kysely,
  KyselyConfig,
  QueryExecutorProvider,
  QueryResult,
  Selectable,
  SelectQueryBuilder,
  SqlBool,
  Transaction,
  Updateable,
} from 'kysely';
import type { Schema } from './schema.js';

export type Database = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** Called after every statement. @param ms how long it took */
export type QueryObserver = (sql: string, ms: number) => void;

/** The part of the settings of kysely that calls an observer, if there is one. */
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

type Matches = (where: ExpressionBuilder<Schema, AnyTable>) => Expression<SqlBool>;

/** @param take the next value, or what stands for it */
function matchRows(match: object, take: () => unknown): Matches {
  return (where) =>
    where.and(
      Object.entries(match).map(([column, value]) => {
        if (value === null) return where(column as 'name', 'is', null);
        if (Array.isArray(value)) return where(column as 'name', 'in', value.map(take) as string[]);
        return where(column as 'name', '=', take() as string);
      }),
    );
}

/** Stands for a value in a statement that is built once for all values. */
class Placeholder {
  constructor(readonly at: number) {}
}

/** Statements by their shape, for each kind of database. */
const built = new WeakMap<object, Map<unknown, CompiledQuery>>();
const MAX_BUILT = 500;

/** What kysely and its `sql` build. */
interface Buildable {
  compile(database: QueryExecutorProvider): CompiledQuery;
}

/**
 * Runs a statement that is built once for each kind of database, because building one takes longer than running it.
 * @param shape what determines the statement, apart from its values
 * @param build gets what stands for the values, and must only pass that on
 */
export async function executeBuilt<Result, Values extends readonly unknown[] = readonly unknown[]>(
  database: Database,
  shape: unknown,
  values: Values,
  build: (...values: Values) => Buildable,
): Promise<QueryResult<Result>> {
  const { adapter, plugins } = database.getExecutor();
  const statements = built.get(adapter) ?? new Map<unknown, CompiledQuery>();
  built.set(adapter, statements);
  // A plugin changes each statement while it is built.
  let query = plugins.length === 0 ? statements.get(shape) : undefined;
  if (!query) {
    const placeholders = values.map((_, at) => new Placeholder(at)) as unknown as Values;
    query = build(...placeholders).compile(database);
    if (plugins.length === 0 && statements.size < MAX_BUILT) statements.set(shape, query);
  }
  const parameters = query.parameters.map((value) =>
    value instanceof Placeholder ? values[value.at] : value,
  );
  return database.executeQuery({ ...query, parameters } as CompiledQuery<Result>);
}

/**
 * Makes a query that is built once.
 * @param build as for `executeBuilt`
 * @returns runs the query with these values
 */
export function compileOnce<Values extends readonly (string | number)[], Row>(
  build: (database: Database, ...values: Values) => Compilable<Row>,
): (database: Database, ...values: Values) => Promise<Row[]> {
  return async (database, ...values) => {
    const buildFor = (...given: Values) => build(database, ...given);
    return (await executeBuilt<Row, Values>(database, build, values, buildFor)).rows;
  };
}

/** Runs a statement about the rows of a table that match. */
function executeOnRows<Result>(
  database: Database,
  statement: string,
  { match = {}, changes = {} }: { readonly match?: object; readonly changes?: object },
  build: (matches: Matches, changes: object) => Buildable,
): Promise<QueryResult<Result>> {
  const set = Object.entries(changes).filter(([, value]) => value !== undefined);
  const where = Object.entries(match);
  const conditions = where.map(([column, value]) =>
    Array.isArray(value) ? `${column} in ${value.length}` : value === null ? `${column} is null` : column,
  );
  const shape = [statement, set.map(([column]) => column), conditions].join(';');
  const values = [...set.map(([, value]) => value), ...where.flatMap(([, value]) => value ?? [])];
  return executeBuilt<Result>(database, shape, values, (...placeholders) => {
    const left = [...placeholders];
    const take = () => left.shift();
    const changed = Object.fromEntries(set.map(([column]) => [column, take()]));
    return build(matchRows(match, take), changed);
  });
}

/**
 * Finds the rows that have these values.
 * @param order the columns by which they are sorted; none: in any order
 */
export async function findRows<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
  order: readonly (keyof Row<Table> & string)[] = [],
): Promise<Row<Table>[]> {
  const statement = `select ${table} by ${order.join()}`;
  const { rows } = await executeOnRows<Row<Table>>(database, statement, { match }, (matches) => {
    const found = database
      .selectFrom(table as AnyTable)
      .selectAll()
      .where(matches);
    return order.reduce((query, column) => query.orderBy(column as 'name'), found);
  });
  return rows;
}

export async function findRow<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
): Promise<Row<Table> | undefined> {
  return (await findRows(database, table, match))[0];
}

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
  await executeOnRows(tx, `insert ${table}`, { changes: values }, (_, inserted) =>
    tx.insertInto<keyof Schema>(table).values(inserted as typeof values),
  );
}

/** @returns how many rows it changed */
export async function updateRows<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
  changes: Updateable<Schema[Table]>,
): Promise<number> {
  const { numAffectedRows } = await executeOnRows(
    database,
    `update ${table}`,
    { match, changes },
    (matches, changed) =>
      database
        .updateTable(table as AnyTable)
        .where(matches)
        .set(changed as Updateable<Schema[AnyTable]>),
  );
  return Number(numAffectedRows);
}

/** @returns how many rows it removed */
export async function deleteRows<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
): Promise<number> {
  const { numAffectedRows } = await executeOnRows(database, `delete ${table}`, { match }, (matches) =>
    database.deleteFrom(table as AnyTable).where(matches),
  );
  return Number(numAffectedRows);
}
