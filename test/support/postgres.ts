import { createHash, randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import pg from 'pg';
import type { Database } from '../../src/service/database/database.js';
import { openPostgres } from '../../src/service/database/postgres.js';
import { openSqlite } from '../../src/service/database/sqlite.js';

/** The database that the tests run with, if not the embedded one: `npm run test:engines` sets it. */
export const testDatabase = process.env.TEST_DATABASE_URL;

/**
 * The setting of a test's service: a schema for each data folder, so that a service that starts again in its folder
 * finds what it wrote.
 */
export async function databaseForFolder(data: string | undefined): Promise<{ database?: string }> {
  if (testDatabase === undefined) return {};
  const name = data === undefined ? randomUUID() : resolve(data);
  const schema = `t${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
  const client = new pg.Client({ connectionString: testDatabase });
  await client.connect();
  await client.query(`create schema if not exists ${schema}`);
  await client.end();
  const url = new URL(testDatabase);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return { database: url.href };
}

/** The database of a data folder, without its service. */
export async function openTestDatabase(folder: string): Promise<Database> {
  const { database: url } = await databaseForFolder(folder);
  if (url === undefined) return openSqlite({ file: join(folder, 'regen.db'), durable: false });
  return openPostgres({ url, onError: () => {} });
}
