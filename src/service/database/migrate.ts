import { type Kysely, sql } from 'kysely';
import { DataUnusable } from './data-unusable.js';
import { migrations } from './migrations.js';
import type { Schema } from './schema.js';

/** What differs between engines. */
export type EngineWords = Readonly<
  Record<'begin' | 'identity' | 'inAYear' | 'char' | 'searchIndex' | 'requestModel', string>
>;

/** Replaces `{name}` in a statement by the engine's words. */
export function fillWords(statement: string, words: EngineWords): string {
  return statement.replace(/\{(\w+)\}/g, (_, word: keyof EngineWords) => words[word]);
}

/**
 * Migrates the database to the newest schema in one transaction, which also records the steps.
 * @param words what `{name}` stands for in the statements
 * @throws if the database was written by a newer release
 */
export async function migrate(database: Kysely<Schema>, words: EngineWords): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql.raw(words.begin).execute(transaction);
    await sql`create table if not exists migrations (number integer primary key)`.execute(transaction);
    const { rows } = await sql<{ number: number }>`select number from migrations`.execute(transaction);
    const done = new Set(rows.map((row) => row.number));
    refuseNewer(done);
    for (const step of migrations.filter(({ number }) => !done.has(number))) {
      for (const statement of step.statements) {
        await sql.raw(fillWords(statement, words)).execute(transaction);
      }
      await sql`insert into migrations (number) values (${step.number})`.execute(transaction);
    }
  });
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
  const { rows } = isNew
    ? { rows: [] }
    : await sql<{ number: number }>`select number from migrations`.execute(database);
  const done = new Set(rows.map(({ number }) => number));
  refuseNewer(done);
  const pending = migrations.filter(({ number }) => !done.has(number));
  return {
    schema: Math.max(0, ...done),
    pending: pending.map(({ number }) => number),
    rolling: pending.every(({ rolling }) => rolling),
  };
}

function refuseNewer(done: ReadonlySet<number>): void {
  const [newest, supported] = [Math.max(0, ...done), Math.max(...migrations.map(({ number }) => number))];
  if (newest <= supported) return;
  throw new DataUnusable(
    `The data was written by a newer release (schema ${newest}; this one supports ${supported}); upgrade regen.`,
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
  const [found, supported] = [rows[0]?.number, Math.max(...migrations.map(({ number }) => number))];
  if (found === supported) return;
  throw new DataUnusable(
    `The data was written by another release (schema ${found}; this one has ${supported}); use that release.`,
  );
}
