import { CompiledQuery, type Driver, type Kysely, sql } from 'kysely';
import { DataUnusable, DataUpgraded } from './data-unusable.js';
import { migrations } from './migrations.js';
import type { Schema } from './schema.js';

export type EngineWords = Readonly<
  Record<
    | 'begin'
    | 'services'
    | 'identity'
    | 'now'
    | 'inAYear'
    | 'in30Days'
    | 'char'
    | 'searchIndex'
    | 'prefixIndex'
    | 'requestModel',
    string
  >
>;

/** Replaces `{name}` in a statement by the engine's words. */
export function fillWords(statement: string, words: EngineWords): string {
  return statement.replace(/\{(\w+)\}/g, (_, word: keyof EngineWords) => words[word]);
}

/** The newest schema that this release knows. */
const SUPPORTED = Math.max(...migrations.map(({ number }) => number));

/**
 * Migrates the database to the newest schema in one transaction, which also records the steps.
 * @param words what `{name}` stands for in the statements
 * @throws DataUnusable if the database was written by a newer release, or services use it that cannot go on afterwards
 */
export async function migrate(database: Kysely<Schema>, words: EngineWords): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql.raw(words.begin).execute(transaction);
    await sql`create table if not exists migrations (number integer primary key)`.execute(transaction);
    const done = await readSteps(transaction);
    const pending = migrations.filter(({ number }) => !done.has(number));
    if (done.size > 0 && !pending.every(({ rolling }) => rolling))
      await refuseOtherServices(transaction, words);
    for (const step of pending) {
      for (const statement of step.statements) {
        await sql.raw(fillWords(statement, words)).execute(transaction);
      }
      await sql`insert into migrations (number) values (${step.number})`.execute(transaction);
      // The column is as old as the first of these steps.
      if (step.rolling)
        await sql`update migrations set rolling = 1 where number = ${step.number}`.execute(transaction);
    }
  });
}

async function refuseOtherServices(transaction: Kysely<Schema>, { services }: EngineWords): Promise<void> {
  const { rows } = await sql<{ found: string | null }>`select ${sql.raw(services)} as found`.execute(
    transaction,
  );
  const found = rows[0]?.found;
  if (!found) return;
  throw new DataUnusable(
    `Services of an earlier release use the database (connected from ${found}) and could not go on after the upgrade; stop them first.`,
  );
}

/** How often a running service looks whether a newer release has changed its data. */
const LOOK_MS = 1_000;

/** From now on, no transaction begins once a newer release has changed the data so that this one cannot go on. */
export function watchSchema(driver: Driver): void {
  const begin = driver.beginTransaction.bind(driver);
  const query = CompiledQuery.raw(
    `select max(number) as number from migrations where number > ${SUPPORTED} and rolling is null`,
  );
  let lookedAt = Number.NEGATIVE_INFINITY;
  driver.beginTransaction = async (connection, settings) => {
    if (performance.now() - lookedAt >= LOOK_MS) {
      const { rows } = await connection.executeQuery<{ number: number | null }>(query);
      const newer = rows[0]?.number;
      if (newer)
        throw new DataUpgraded(
          `A newer release has upgraded the data (schema ${newer}; this one supports ${SUPPORTED}); it must replace this service.`,
        );
      lookedAt = performance.now();
    }
    await begin(connection, settings);
  };
}

/** The schema of data, and what this release would change. */
export interface SchemaState {
  /** The last step that was taken; 0 in an empty database. */
  readonly schema: number;
  /** The steps that are missing. */
  readonly pending: readonly number[];
  /** Whether services of the earlier release may go on while and after these steps are taken. */
  readonly rolling: boolean;
}

/** @throws DataUnusable if a newer release has written the data */
export async function readSchemaState(database: Kysely<Schema>): Promise<SchemaState> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  const isNew = !tables.some(({ name }) => name === 'migrations');
  const done = isNew ? new Set<number>() : await readSteps(database);
  const pending = migrations.filter(({ number }) => !done.has(number));
  return {
    schema: Math.max(0, ...done),
    pending: pending.map(({ number }) => number),
    rolling: pending.every(({ rolling }) => rolling),
  };
}

/** The steps that were taken. @throws DataUnusable */
async function readSteps(database: Kysely<Schema>): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ number: number }>`select number from migrations`.execute(database);
  const done = new Set(rows.map(({ number }) => number));
  const newest = Math.max(0, ...done);
  if (newest <= SUPPORTED) return done;
  throw new DataUnusable(
    `The data was written by a newer release (schema ${newest}; this one supports ${SUPPORTED}); upgrade regen.`,
  );
}

/**
 * Makes sure that data has the schema of this release, without changing it.
 * @throws DataUnusable
 */
export async function requireNewestSchema(database: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ number: number }>`select max(number) as number from migrations`.execute(
    database,
  );
  const found = rows[0]?.number;
  if (found === SUPPORTED) return;
  throw new DataUnusable(
    `The data was written by another release (schema ${found}; this one has ${SUPPORTED}); use that release.`,
  );
}
