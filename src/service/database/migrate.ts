import { type Kysely, sql } from 'kysely';
import { registry } from './migrations/0001-registry.js';
import { adminTokens } from './migrations/0002-admin-tokens.js';
import { tasks } from './migrations/0003-tasks.js';
import { videos } from './migrations/0004-videos.js';
import { webhooks } from './migrations/0005-webhooks.js';
import { vendors } from './migrations/0006-vendors.js';
import type { Schema } from './schema.js';

/** One numbered step; once released it is never changed, only followed by another. */
export interface Migration {
  readonly number: number;
  /** Plain SQL both engines read; `{identity}` stands for the engine's self-numbering primary key. */
  readonly statements: readonly string[];
}

const migrations: readonly Migration[] = [registry, adminTokens, tasks, videos, webhooks, vendors];

/**
 * Brings the database to the newest schema, every step in the one transaction that also records it.
 * @throws when the database was written by a newer release
 */
export async function migrate(database: Kysely<Schema>, identity: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql`create table if not exists migrations (number integer primary key)`.execute(transaction);
    const { rows } = await sql<{ number: number }>`select number from migrations`.execute(transaction);
    const done = new Set(rows.map((row) => row.number));
    const newest = Math.max(0, ...done);
    if (newest > migrations.length) {
      throw new Error(
        `The data was written by a newer release (schema ${newest}); this one knows ${migrations.length}.`,
      );
    }
    for (const step of migrations.filter(({ number }) => !done.has(number))) {
      for (const statement of step.statements) {
        await sql.raw(statement.replace('{identity}', identity)).execute(transaction);
      }
      await sql`insert into migrations (number) values (${step.number})`.execute(transaction);
    }
  });
}
