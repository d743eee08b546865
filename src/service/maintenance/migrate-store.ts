import { join } from 'node:path';
import { type ConfigurationInput, parseConfiguration } from '../configuration/configuration.js';
import type { Environment } from '../configuration/secret-source.js';
import { readSchemaState, type SchemaState } from '../database/migrate.js';
import { openPostgres } from '../database/postgres.js';
import { openSqlite } from '../database/sqlite.js';
import { openDataFolder, requireDatabase } from '../storage/data-folder.js';

/**
 * Upgrades the database of a configuration to the schema of this release, as a start of the service does.
 * @param data the data folder; without PostgreSQL no service may use it
 * @returns the steps that were taken, or with `check` that are missing
 * @throws DataUnusable, FolderInUse, InvalidConfiguration
 */
export async function migrateStore(
  data: string,
  input: ConfigurationInput,
  { env, check }: { readonly env: Environment; readonly check: boolean },
): Promise<SchemaState> {
  const { database: url } = parseConfiguration(input, env);
  const file = join(data, 'regen.db');
  if (url === undefined) requireDatabase(data);
  const open = (migrates: true | 'unchecked', verify = false) =>
    url === undefined
      ? openSqlite({ file, durable: true, migrates, verify })
      : openPostgres({ url, migrates, onError: () => {} });
  const read = async () => {
    const database = await open('unchecked');
    return readSchemaState(database).finally(() => database.destroy());
  };
  if (check) return read();
  const folder = url === undefined ? openDataFolder(data) : undefined;
  try {
    const { pending, rolling } = await read();
    const database = await open(true, folder?.endedUncleanly);
    const { schema } = await readSchemaState(database).finally(() => database.destroy());
    return { schema, pending, rolling };
  } finally {
    folder?.release();
  }
}
