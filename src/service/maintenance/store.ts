import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from '../../contract/has-code.js';
import { type ConfigurationInput, parseConfiguration } from '../configuration/configuration.js';
import type { Environment } from '../configuration/secret-source.js';
import { readClock } from '../database/clock.js';
import type { Database } from '../database/database.js';
import { openDatabase } from '../database/open-database.js';
import { openSqlite } from '../database/sqlite.js';
import { DATABASE, requireDatabase } from '../storage/data-folder.js';
import { createDiskStorage } from '../storage/disk.js';
import { openStorage } from '../storage/open-storage.js';
import type { Storage } from '../storage/storage.js';
import { listExpectedObjects } from './expected-objects.js';

/** Where the data of a service is. */
export interface StoreLocation {
  readonly data: string;
  /** Names the database and the storage, if they are elsewhere. */
  readonly configuration: ConfigurationInput;
  /** Environment variables that may hold secrets. */
  readonly env: Environment;
}

/** An open database, and the objects that its rows name. */
export interface Store extends AsyncDisposable {
  readonly database: Database;
  readonly objects: Storage;
}

/**
 * Opens the store of services, which may be using it.
 * @returns `now` is the time of its database
 * @throws DataUnusable, InvalidConfiguration
 */
export async function openStore(
  { data, configuration: input, env }: StoreLocation,
  givenNow = readClock,
): Promise<Store & { readonly now: () => number }> {
  const configuration = await parseConfiguration(input, env);
  if (configuration.database === undefined) requireDatabase(data);
  const { database, now, close } = await openDatabase({
    url: configuration.database,
    ...{ file: join(data, DATABASE), durable: true, verify: true, migrates: false },
    now: givenNow,
    onError: () => {},
  });
  const scratch = mkdtempSync(join(tmpdir(), 'regen-'));
  const dispose = async () => {
    rmSync(scratch, { recursive: true, force: true });
    await close();
  };
  try {
    // Files that are half written belong to services that run.
    const places = { objects: join(data, 'objects'), before: 0, scratch, env };
    const objects = await openStorage(configuration, places);
    return { database, objects, now, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * Opens and upgrades the store in a folder that no service uses.
 * @throws DataUnusable
 */
export async function openFolder(folder: string): Promise<Store> {
  const database = await openSqlite({ file: join(folder, DATABASE), durable: true, verify: true });
  return {
    database,
    objects: createDiskStorage(join(folder, 'objects'), { sweeps: false }),
    [Symbol.asyncDispose]: () => database.destroy(),
  };
}

/** Copies the objects that a database names and that are not copied yet. A check tells what was missing. */
export async function copyObjects(database: Database, from: Storage, to: Storage): Promise<void> {
  const copied = new Set<string>();
  for await (const name of to.list()) copied.add(name);
  for await (const { key } of listExpectedObjects(database)) {
    if (copied.has(to.toName(key))) continue;
    try {
      // Each was checked when it was stored, so none is too large.
      await to.write(key, await from.read(key), Number.MAX_SAFE_INTEGER);
    } catch (error) {
      if (!hasCode(error, 'object_missing', 'storage_missing')) throw error;
    }
  }
}
