import { join } from 'node:path';
import { type ConfigurationInput, parseConfiguration } from '../configuration/configuration.js';
import type { Environment } from '../configuration/secret-source.js';
import { readSchemaState, type SchemaState } from '../database/migrate.js';
import { openPostgres } from '../database/postgres.js';
import { openSqlite } from '../database/sqlite.js';
import { DATABASE, openDataFolder, requireDatabase } from '../storage/data-folder.js';

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
  const { database: url } = await parseConfiguration(input, env);
  if (url === undefined) requireDatabase(data);
  const read = async (migrates: true | 'unchecked', verify = false) => {
    await using database =
      url === undefined
        ? await openSqlite({ file: join(data, DATABASE), durable: true, migrates, verify })
        : await openPostgres({ url, migrates, onError: () => {} });
    return await readSchemaState(database);
  };
  if (check) return read('unchecked');
  using folder = url === undefined ? openDataFolder(data) : undefined;
  const { pending, rolling } = await read('unchecked');
  const { schema } = await read(true, folder?.endedUncleanly);
  return { schema, pending, rolling };
}
