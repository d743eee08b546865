import type {
  Compilable,
  CompiledQuery,
  ExpressionBuilder,
  Insertable,
  Kysely,
  KyselyConfig,
  QueryExecutorProvider,
  QueryResult,
  Selectable,
  SelectQueryBuilder,
  Transaction,
  Updateable,
} from 'kysely';
import type { Schema } from './schema.js';

export type Database = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** Called after every statement. @param ms how long it took */
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

/** Statements by what was built into them, for each database. */
const built = new WeakMap<object, Map<string, CompiledQuery>>();
const MAX_BUILT = 500;

/** What kysely and its `sql` build. */
interface Buildable {
  compile(database: QueryExecutorProvider): CompiledQuery;
}

/**
 * Runs a statement that is built once for all values: building one takes longer than running it.
 * @param shape what determines the statement, apart from its values
 * @param build builds it with these values
 */
export async function executeBuilt<Result>(
  database: Database,
  { shape, values }: Shape,
  build: () => Buildable,
): Promise<QueryResult<Result>> {
  const { adapter, plugins } = database.getExecutor();
  const statements = built.get(adapter) ?? new Map<string, CompiledQuery>();
  built.set(adapter, statements);
  // A plugin changes each statement while it is built.
  const known = plugins.length === 0 ? statements.get(shape) : undefined;
  if (known) return database.executeQuery({ ...known, parameters: values } as CompiledQuery<Result>);
  const query = build().compile(database);
  const isComplete =
    query.parameters.length === values.length && values.every((value, at) => value === query.parameters[at]);
  if (isComplete && plugins.length === 0 && statements.size < MAX_BUILT) statements.set(shape, query);
  return database.executeQuery(query as CompiledQuery<Result>);
}

/**
 * Makes a query that is compiled once for each kind of database, because compiling a join takes longer than running it.
 * @param build builds the query; it gets the values of its parameters, and must only pass them on
 * @returns runs the query with these values
 */
export function compileOnce<Values extends readonly (string | number)[], Row>(
  build: (database: Database, ...values: Values) => Compilable<Row>,
): (database: Database, ...values: Values) => Promise<Row[]> {
  const compiled = new WeakMap<object, (values: Values) => CompiledQuery<Row>>();
  return async (database, ...values) => {
    const { adapter } = database.getExecutor();
    let fill = compiled.get(adapter);
    if (!fill) {
      const marks: unknown[] = values.map((_, index) => Object.freeze({ index }));
      const query = build(database, ...(marks as unknown as Values)).compile();
      const places = query.parameters.map((parameter) => marks.indexOf(parameter));
      fill = (given) => ({
        ...query,
        parameters: query.parameters.map((parameter, at) =>
          places[at] === -1 ? parameter : given[places[at] as number],
        ),
      });
      compiled.set(adapter, fill);
    }
    return (await database.executeQuery(fill(values))).rows;
  };
}

export interface Shape {
  readonly shape: string;
  readonly values: readonly unknown[];
}

/** The shape of a statement with equality conditions. */
function toShape(verb: string, table: string, match: object, changes: object = {}): Shape {
  const set = Object.entries(changes).filter(([, value]) => value !== undefined);
  const where = Object.entries(match);
  const parts = where.map(([column, value]) =>
    Array.isArray(value) ? `${column} in ${value.length}` : value === null ? `${column} is null` : column,
  );
  return {
    shape: [verb, table, set.map(([column]) => column), parts].join(';'),
    values: [...set.map(([, value]) => value), ...where.flatMap(([, value]) => value ?? [])],
  };
}

/** Finds the rows that have these values. */
export async function findRows<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
): Promise<Row<Table>[]> {
  const { rows } = await executeBuilt<Row<Table>>(database, toShape('select', table, match), () =>
    database
      .selectFrom(table as AnyTable)
      .selectAll()
      .where(matchRows(match)),
  );
  return rows;
}

/** Finds the row that has these values. */
export async function findRow<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
): Promise<Row<Table> | undefined> {
  return (await findRows(database, table, match))[0];
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
  await executeBuilt(tx, toShape('insert', table, {}, values), () =>
    tx.insertInto<keyof Schema>(table).values(values),
  );
}

/** @returns how many rows it changed */
export async function updateRows<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
  changes: Updateable<Schema[Table]>,
): Promise<number> {
  const { numAffectedRows } = await executeBuilt(database, toShape('update', table, match, changes), () =>
    database
      .updateTable(table as AnyTable)
      .where(matchRows(match))
      .set(changes as Updateable<Schema[AnyTable]>),
  );
  return Number(numAffectedRows);
}

/** @returns how many rows it removed */
export async function deleteRows<Table extends keyof Schema>(
  database: Database,
  table: Table,
  match: Match<Table>,
): Promise<number> {
  const { numAffectedRows } = await executeBuilt(database, toShape('delete', table, match), () =>
    database.deleteFrom(table as AnyTable).where(matchRows(match)),
  );
  return Number(numAffectedRows);
}
