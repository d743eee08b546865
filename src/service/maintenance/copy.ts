import { join } from 'node:path';
import { type ConfigurationInput, parseConfiguration } from '../configuration/configuration.js';
import type { Environment } from '../configuration/secret-source.js';
import { openPostgres } from '../database/postgres.js';
import { bindStorage } from '../storage/bind-storage.js';
import { openDataFolder, requireDatabase } from '../storage/data-folder.js';
import { openStorage } from '../storage/open-storage.js';
import { checkStore, type StoreReport } from './check-store.js';
import { copyRows, isEmpty } from './copy-rows.js';
import { BackupRefused } from './new-folder.js';
import { copyObjects, openFolder } from './store.js';

export interface CopyReport extends StoreReport {
  /** Rows of all tables. */
  readonly rows: number;
}

/**
 * Copies a stopped data folder to the PostgreSQL database of a configuration, which holds nothing yet, and to its
 * storage. Checks the copy: as many rows in each table, and every object with its digest.
 * @throws BackupRefused, DataUnusable, FolderInUse, InvalidConfiguration
 */
export async function copyFolder(
  data: string,
  input: ConfigurationInput,
  env: Environment,
): Promise<CopyReport> {
  const configuration = await parseConfiguration(input, env);
  const { database: url, data: target, storage } = configuration;
  if (url === undefined)
    throw new BackupRefused(
      'The configuration names no PostgreSQL database; set database, or use serve backup.',
    );
  if (storage === undefined && target === undefined)
    throw new BackupRefused('The configuration names no place for files; set storage or data.');
  requireDatabase(data);
  using locked = openDataFolder(data);
  await using from = await openFolder(locked.path);
  await using to = await openPostgres({ url, onError: () => {} });
  const folder = join(target ?? data, 'objects');
  const objects = await openStorage(configuration, { objects: folder, scratch: join(data, 'scratch'), env });
  if (!(await isEmpty(to)))
    throw new BackupRefused('The PostgreSQL database has been used by a service; choose an empty one.');
  // Before the rows, so that it can be repeated if it fails.
  await copyObjects(from.database, from.objects, objects);
  const rows = await copyRows(from.database, to);
  await bindStorage(to, objects, { setting: storage, folder });
  return { rows, ...(await checkStore(to, objects)) };
}
