import type { Kysely, KyselyConfig, SelectQueryBuilder, Transaction } from 'kysely';
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
