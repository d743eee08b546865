import { sql } from 'kysely';
import { vi } from 'vitest';
import type { Database } from '../../src/service/database/database.js';

/**
 * The query plans of each query of `work`: `SCAN nodes`, `SEARCH versions USING INDEX …`. Includes queries in
 * transactions.
 * @param about which queries, where others run at the same time
 */
export async function plansOf(
  database: Database,
  work: () => Promise<unknown>,
  about = /./,
): Promise<string[]> {
  const executor = Object.getPrototypeOf(database.getExecutor());
  const base = Object.getPrototypeOf(executor);
  const queries: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
  const execute = base.executeQuery as (query: never, ...rest: never[]) => unknown;
  const spy = vi.spyOn(base, 'executeQuery').mockImplementation(function (
    this: unknown,
    ...given: unknown[]
  ) {
    queries.push(given[0] as never);
    return execute.apply(this, given as never);
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  const plans: string[] = [];
  for (const query of queries) {
    if (!/^(select|with|update|delete)/i.test(query.sql) || !about.test(query.sql)) continue;
    const text = query.parameters.reduce<string>(
      (left, value) => left.replace('?', () => `'${String(value).replaceAll("'", "''")}'`),
      query.sql,
    );
    const { rows } = await sql<{ detail: string }>`${sql.raw(`explain query plan ${text}`)}`.execute(
      database,
    );
    plans.push(...rows.map(({ detail }) => detail));
  }
  return plans;
}
