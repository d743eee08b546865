import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { sql } from 'kysely';
import { hasCode } from '../../contract/has-code.js';
import { type ConfigurationInput, parseConfiguration } from '../configuration/configuration.js';
import type { Environment } from '../configuration/secret-source.js';
import { DataUnusable } from '../database/data-unusable.js';
import { type Database, deleteRows } from '../database/database.js';
import { openPostgres } from '../database/postgres.js';
import { openSqlite, snapshotSqlite } from '../database/sqlite.js';
import { requireDatabase } from '../storage/data-folder.js';
import { createDiskStorage } from '../storage/disk.js';
import { openStorage } from '../storage/open-storage.js';
import type { Storage } from '../storage/storage.js';
import { checkStore, type StoreReport } from './check-store.js';
import { copyRows } from './copy-rows.js';
import { listExpectedObjects } from './expected-objects.js';
import { DATABASE, listStore, packFolder, removeSidecars, syncPath, unpackFolder } from './store-folder.js';

/** How often the database is copied again because objects changed after it. */
const MAX_ATTEMPTS = 5;

/** The backup could not be written, or the folder to restore into is in use. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
  readonly code = 'backup_refused';
}

/** Where the data of a service is. */
export interface StoreLocation {
  /** The data folder. */
  readonly data: string;
  /** Names the database and the storage, if they are elsewhere. */
  readonly configuration: ConfigurationInput;
  /** Environment variables that may hold secrets. */
  readonly env: Environment;
}

/**
 * Copies the data of services while they may use it: the database as it is at one moment, as an embedded one, and the
 * objects that it names. The owner's token is left out; a service that starts in the copy makes a new one.
 * @param target a new folder, or a new archive if it ends in .zip
 * @throws BackupRefused, DataUnusable, InvalidConfiguration
 */
export async function backUpStore(location: StoreLocation, target: string): Promise<StoreReport> {
  const isArchive = target.endsWith('.zip');
  if (isArchive && existsSync(target))
    throw new BackupRefused(`${target} already exists; choose another name.`);
  return withStore(location, async (store) => {
    if (!isArchive) return writeFolder(target, (folder) => copyStore(store, folder));
    return inPartialFolder(target, async (folder) => {
      const report = await copyStore(store, join(folder, 'data'));
      await packFolder(join(folder, 'data'), join(folder, 'backup.zip'));
      renameSync(join(folder, 'backup.zip'), target);
      await syncPath(dirname(resolve(target)));
      return report;
    });
  });
}

/**
 * Copies a backup into a data folder that does not exist yet or is empty.
 * @throws BackupRefused, DataUnusable
 */
export async function restoreFolder(backup: string, data: string): Promise<StoreReport> {
  if (!existsSync(backup)) throw new DataUnusable(`${backup} does not exist.`);
  return writeFolder(data, async (folder) => {
    mkdirSync(join(folder, 'objects'), { recursive: true, mode: 0o700 });
    if (statSync(backup).isFile()) {
      await unpackFolder(backup, folder);
      requireDatabase(folder);
      return withCopy(folder, checkStore);
    }
    requireDatabase(backup);
    // A copy of a folder whose service was killed has its last changes in the second file.
    await copyFile(join(backup, DATABASE), join(folder, DATABASE));
    await copyFile(join(backup, `${DATABASE}-wal`), join(folder, `${DATABASE}-wal`)).catch((error) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
    const source = createDiskStorage(join(backup, 'objects'), { sweeps: false });
    return withCopy(folder, (database, copy) => copyObjects(database, source, copy));
  });
}

/**
 * Checks the database of services and every object that it names.
 * @throws DataUnusable, InvalidConfiguration
 */
export async function checkServices(location: StoreLocation): Promise<StoreReport> {
  return withStore(location, ({ database, objects }) => checkStore(database, objects));
}

/** An open store. */
interface Store {
  readonly database: Database;
  readonly objects: Storage;
  /** Writes the database as it is at one moment into the file of an embedded one. */
  snapshot(file: string): Promise<void>;
}

async function withStore<Result>(
  { data, configuration: input, env }: StoreLocation,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const configuration = parseConfiguration(input, env);
  const { database: url } = configuration;
  const embedded = join(data, DATABASE);
  if (url === undefined) requireDatabase(data);
  const database = await (url === undefined
    ? openSqlite({ file: embedded, durable: true, verify: true, migrates: false })
    : openPostgres({ url, migrates: false, onError: () => {} }));
  const scratch = mkdtempSync(join(tmpdir(), 'regen-'));
  try {
    // Files that are half written belong to services that run.
    const places = { objects: join(data, 'objects'), before: 0, scratch, env };
    return await work({
      database,
      objects: await openStorage(configuration, places),
      snapshot: async (file) =>
        url === undefined ? snapshotSqlite(embedded, file) : snapshotPostgres(database, file),
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    await database.destroy();
  }
}

async function snapshotPostgres(database: Database, file: string): Promise<void> {
  const reading = database.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  await reading.execute(async (tx) => {
    rmSync(file, { force: true });
    const copy = await openSqlite({ file, durable: true });
    await copyRows(tx, copy).finally(() => copy.destroy());
  });
}

/** Opens a copy of a store, and upgrades it. */
async function withCopy<Result>(
  folder: string,
  work: (database: Database, objects: Storage) => Promise<Result>,
): Promise<Result> {
  const file = join(folder, DATABASE);
  const database = await openSqlite({ file, durable: true, verify: true });
  try {
    return await work(database, createDiskStorage(join(folder, 'objects'), { sweeps: false }));
  } finally {
    await database.destroy();
    removeSidecars(file);
  }
}

/**
 * Writes a folder under another name first, so that it has a database only when it is whole. A folder that is there stays,
 * because it may be a mount or in a folder that cannot be changed.
 */
async function writeFolder(
  target: string,
  write: (folder: string) => Promise<StoreReport>,
): Promise<StoreReport> {
  const isThere = existsSync(target);
  if (isThere) requireNames(target, 0);
  return inPartialFolder(isThere ? join(target, DATABASE) : target, async (folder) => {
    const data = join(folder, 'data');
    const report = await write(data);
    for (const name of [...(await listStore(data)), 'objects', '']) await syncPath(join(data, name));
    if (!isThere) renameSync(data, target);
    else {
      // A service may have started in it since.
      requireNames(target, 1);
      for (const name of ['objects', DATABASE]) renameSync(join(data, name), join(target, name));
    }
    await syncPath(isThere ? target : dirname(resolve(target)));
    return report;
  });
}

/** @throws BackupRefused if something else is in a folder */
function requireNames(target: string, count: number): void {
  if (!statSync(target).isDirectory() || readdirSync(target).length > count)
    throw new BackupRefused(`${target} already exists; choose a folder that does not exist or is empty.`);
}

async function inPartialFolder(
  target: string,
  work: (folder: string) => Promise<StoreReport>,
): Promise<StoreReport> {
  const partial = `${resolve(target)}.partial-${randomUUID()}`;
  mkdirSync(dirname(partial), { recursive: true });
  mkdirSync(join(partial, 'data'), { recursive: true, mode: 0o700 });
  try {
    return await work(partial);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

async function copyStore(store: Store, folder: string): Promise<StoreReport> {
  mkdirSync(join(folder, 'objects'), { recursive: true, mode: 0o700 });
  let before = '';
  for (let attempts = 1; ; attempts++) {
    rmSync(join(folder, DATABASE), { force: true });
    await store.snapshot(join(folder, DATABASE));
    const report = await withCopy(folder, async (database, copy) => {
      await database.transaction().execute(async (tx) => {
        // The copy has its files beside it, and gets an owner's token of its own. Nothing of the token stays in the file.
        await sql`pragma secure_delete = on`.execute(tx);
        await deleteRows(tx, 'keys', { use: 'owner' });
        await tx.deleteFrom('storages').execute();
      });
      return copyObjects(database, store.objects, copy);
    });
    // What is wrong twice is wrong in the data itself.
    const found = JSON.stringify(report.problems);
    if (report.problems.length === 0 || found === before || attempts === MAX_ATTEMPTS) return report;
    before = found;
    // Objects that a running service replaced or removed after the snapshot; the next one knows.
    for (const { object } of report.problems) rmSync(join(folder, 'objects', object), { force: true });
  }
}

/** Copies the objects that the copied database names and that are not copied yet, and checks each. */
async function copyObjects(database: Database, from: Storage, to: Storage): Promise<StoreReport> {
  for await (const { key } of listExpectedObjects(database)) {
    const target = (await to.borrow(key)).path;
    if (existsSync(target)) continue;
    try {
      const { path, release } = await from.borrow(key);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await copyFile(path, target).finally(release);
    } catch (error) {
      // The check below reports it if it is needed.
      if (!hasCode(error, 'ENOENT', 'object_missing')) throw error;
    }
  }
  return checkStore(database, to);
}
