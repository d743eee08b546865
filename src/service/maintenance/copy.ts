import { join } from 'node:path';
import { hasCode } from '../../contract/has-code.js';
import { type ConfigurationInput, parseConfiguration } from '../configuration/configuration.js';
import type { Environment } from '../configuration/secret-source.js';
import type { Database } from '../database/database.js';
import { openPostgres } from '../database/postgres.js';
import { openSqlite } from '../database/sqlite.js';
import { bindStorage } from '../storage/bind-storage.js';
import { openDataFolder, requireDatabase } from '../storage/data-folder.js';
import { createDiskStorage } from '../storage/disk.js';
import { openStorage } from '../storage/open-storage.js';
import type { Storage } from '../storage/storage.js';
import { BackupRefused } from './backup.js';
import { checkStore, type StoreReport } from './check-store.js';
import { copyRows, isEmpty } from './copy-rows.js';
import { listExpectedObjects } from './expected-objects.js';

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
  const configuration = parseConfiguration(input, env);
  const { database: url, data: target, storage } = configuration;
  if (url === undefined)
    throw new BackupRefused(
      'The configuration names no PostgreSQL database; set database, or use serve backup.',
    );
  if (storage === undefined && target === undefined)
    throw new BackupRefused('The configuration names no place for files; set storage or data.');
  requireDatabase(data);
  const source = openDataFolder(data);
  try {
    const from = await openSqlite({ file: join(data, 'regen.db'), durable: true, verify: true });
    try {
      const to = await openPostgres({ url, onError: () => {} });
      try {
        const folder = join(target ?? data, 'objects');
        const places = { objects: folder, scratch: join(data, 'scratch'), env };
        const objects = await openStorage(configuration, places);
        if (!(await isEmpty(to)))
          throw new BackupRefused('The PostgreSQL database has been used by a service; choose an empty one.');
        // Before the rows, so that it can be repeated if it fails.
        await copyObjects(from, createDiskStorage(join(data, 'objects')), objects);
        const rows = await copyRows(from, to);
        await bindStorage(to, objects, { setting: storage, folder });
        return { rows, ...(await checkStore(to, objects)) };
      } finally {
        await to.destroy();
      }
    } finally {
      await from.destroy();
    }
  } finally {
    source.release();
  }
}

/** No object is larger; each was checked when it was stored. */
const MAX_OBJECT_BYTES = Number.MAX_SAFE_INTEGER;

async function copyObjects(database: Database, from: Storage, to: Storage): Promise<void> {
  for await (const { key } of listExpectedObjects(database)) {
    try {
      await to.write(key, await from.read(key), MAX_OBJECT_BYTES);
    } catch (error) {
      // The check that follows names what is missing and needed.
      if (!hasCode(error, 'object_missing')) throw error;
    }
  }
}
