import { sql } from 'kysely';
import Libsql from 'libsql';
import { vi } from 'vitest';
import type { Database } from '../../src/service/database/database.js';

interface ObservedQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** How many rows it returned. */
  rows: number;
}

/** Lists the queries of `work`, those in transactions included. */
async function observeQueries(database: Database, work: () => Promise<unknown>): Promise<ObservedQuery[]> {
  const executor = Object.getPrototypeOf(database.getExecutor());
  const base = Object.getPrototypeOf(executor);
  const queries: ObservedQuery[] = [];
  const execute = base.executeQuery as (query: never, ...rest: never[]) => Promise<{ rows: unknown[] }>;
  const spy = vi.spyOn(base, 'executeQuery').mockImplementation(async function (
    this: unknown,
    ...given: unknown[]
  ) {
    const query = { ...(given[0] as ObservedQuery), rows: 0 };
    queries.push(query);
    const result = await execute.apply(this, given as never);
    query.rows = result.rows.length;
    return result;
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return queries;
}

/** What `work` asks the database. */
export interface ObservedReads {
  /** The plan of each query: `SCAN nodes`, `SEARCH versions USING INDEX …`. */
  readonly plans: string[];
  readonly queries: number;
  /** How many rows all queries return together. */
  readonly rows: number;
}

/** @param about which queries, where others run at the same time */
export async function observeReads(
  database: Database,
  work: () => Promise<unknown>,
  about = /./,
): Promise<ObservedReads> {
  const queries = (await observeQueries(database, work)).filter(({ sql }) => about.test(sql));
  // A statement that explains another stays open. On the connection of the service it would keep every later read open,
  // and the service would wait 10 s for them when it stops.
  const { rows: files } = await sql<{ file: string }>`select file from pragma_database_list`.execute(
    database,
  );
  const connection = new Libsql((files[0] as { file: string }).file);
  const plans: string[] = [];
  for (const query of queries) {
    if (!/^(select|with|update|delete)/i.test(query.sql)) continue;
    const text = query.parameters.reduce<string>(
      (left, value) => left.replace('?', () => `'${String(value).replaceAll("'", "''")}'`),
      query.sql,
    );
    const steps = connection.prepare(`explain query plan ${text}`).all() as { detail: string }[];
    plans.push(...steps.map(({ detail }) => detail));
  }
  connection.close();
  return { plans, queries: queries.length, rows: queries.reduce((sum, { rows }) => sum + rows, 0) };
}

export async function listPlans(...given: Parameters<typeof observeReads>): Promise<string[]> {
  return (await observeReads(...given)).plans;
}
