import { existsSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { hasCode } from '../../contract/has-code.js';
import { DataUnusable } from '../database/data-unusable.js';
import { type Database, deleteRows } from '../database/database.js';
import { isPostgres } from '../database/postgres.js';
import { openSqlite, snapshotSqlite } from '../database/sqlite.js';
import { DATABASE, requireDatabase } from '../storage/data-folder.js';
import { createDiskStorage } from '../storage/disk.js';
import type { Storage } from '../storage/storage.js';
import { checkStore, type StoreReport } from './check-store.js';
import { copyRows } from './copy-rows.js';
import { createFolder } from './new-folder.js';
import { copyObjects, openFolder, openStore, type StoreLocation } from './store.js';
import { removeSidecars, unpackFolder } from './store-folder.js';

/** How often the database is copied again because objects changed after it. */
const MAX_ATTEMPTS = 5;

/**
 * Copies the data of services while they may use it: the database as it is at one moment, as an embedded one, and the
 * objects that it names. The owner's token is left out; a service that starts in the copy makes a new one.
 * @param target a new folder, or a new archive if it ends in .zip
 * @throws BackupRefused, DataUnusable, InvalidConfiguration
 */
export async function backUpStore(location: StoreLocation, target: string): Promise<StoreReport> {
  await using from = await openStore(location);
  await using to = createFolder(target, { archives: true });
  const snapshot = async (file: string) =>
    isPostgres(from.database)
      ? snapshotPostgres(from.database, file)
      : snapshotSqlite(join(location.data, DATABASE), file);
  let before = '';
  for (let attempt = 1; ; attempt += 1) {
    await snapshot(join(to.data, DATABASE));
    const report = await fillCopy(to.data, from.objects);
    // What is wrong twice is wrong in the data itself.
    const found = JSON.stringify(report.problems);
    if (report.problems.length === 0 || found === before || attempt === MAX_ATTEMPTS) {
      await to.keep();
      return report;
    }
    before = found;
    // Objects that a running service replaced or removed after the snapshot; the next one knows.
    for (const { object } of report.problems) rmSync(join(to.data, 'objects', object), { force: true });
    removeSidecars(join(to.data, DATABASE));
    rmSync(join(to.data, DATABASE));
  }
}

async function snapshotPostgres(database: Database, file: string): Promise<void> {
  const reading = database.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  await reading.execute(async (tx) => {
    rmSync(file, { force: true });
    await using copy = await openSqlite({ file, durable: true });
    await copyRows(tx, copy);
  });
}

/** Copies the objects that a copied database names. */
async function fillCopy(folder: string, objects: Storage): Promise<StoreReport> {
  await using copy = await openFolder(folder);
  await copy.database.transaction().execute(async (tx) => {
    // The copy has its files beside it, and gets an owner's token of its own. Nothing of the token stays in the file.
    await sql`pragma secure_delete = on`.execute(tx);
    await deleteRows(tx, 'keys', { use: 'owner' });
    await tx.deleteFrom('storages').execute();
  });
  await copyObjects(copy.database, objects, copy.objects);
  return await checkStore(copy.database, copy.objects);
}

/**
 * Copies a backup into a data folder that does not exist yet or is empty.
 * @throws BackupRefused, DataUnusable
 */
export async function restoreFolder(backup: string, data: string): Promise<StoreReport> {
  if (!existsSync(backup)) throw new DataUnusable(`${backup} does not exist.`);
  await using to = createFolder(data, { archives: false });
  const report = await copyBackup(backup, to.data);
  await to.keep();
  return report;
}

async function copyBackup(backup: string, folder: string): Promise<StoreReport> {
  const isArchive = statSync(backup).isFile();
  if (isArchive) await unpackFolder(backup, folder);
  else requireDatabase(backup);
  // A copy of a folder whose service was killed has its last changes in the second file.
  for (const name of isArchive ? [] : [DATABASE, `${DATABASE}-wal`])
    await copyFile(join(backup, name), join(folder, name)).catch((error) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
  await using copy = await openFolder(folder);
  const source = createDiskStorage(join(backup, 'objects'), { sweeps: false });
  if (!isArchive) await copyObjects(copy.database, source, copy.objects);
  return await checkStore(copy.database, copy.objects);
}

/**
 * Checks the database of services and every object that it names.
 * @throws DataUnusable, InvalidConfiguration
 */
export async function checkServices(location: StoreLocation): Promise<StoreReport> {
  await using store = await openStore(location);
  return await checkStore(store.database, store.objects);
}
