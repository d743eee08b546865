import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { openSqlite, snapshotSqlite } from '../database/sqlite.js';
import { requireDatabase } from '../storage/data-folder.js';
import { createDiskStorage } from '../storage/disk.js';
import { packFolder, unpackFolder } from './archive.js';
import { checkStore, type StoreReport } from './check-store.js';
import { listExpectedObjects } from './expected-objects.js';

/** The database of a data folder. */
const DATABASE = 'regen.db';

/** How often the database is copied again because objects changed after it. */
const MAX_ATTEMPTS = 5;

/** The backup could not be written, or the folder to restore into is in use. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/**
 * Copies a data folder while a service may use it: the database as it is at one moment, and the objects that it
 * names. The owner's token is left out; a service that starts in the copy makes a new one.
 * @param target a new folder, or a new archive if it ends in .zip
 * @throws BackupRefused, DataUnusable
 */
export async function backUpFolder(data: string, target: string): Promise<StoreReport> {
  requireDatabase(data);
  if (!target.endsWith('.zip')) return writeFolder(target, (folder) => copyData(data, folder));
  if (existsSync(target)) throw new BackupRefused(`${target} already exists; choose another name.`);
  return inPartialFolder(target, async (folder) => {
    const report = await copyData(data, join(folder, 'data'));
    await packFolder(join(folder, 'data'), join(folder, 'backup.zip'));
    renameSync(join(folder, 'backup.zip'), target);
    return report;
  });
}

/**
 * Copies a backup into a data folder that does not exist yet or is empty.
 * @throws BackupRefused, DataUnusable
 */
export async function restoreFolder(backup: string, data: string): Promise<StoreReport> {
  return writeFolder(data, async (folder) => {
    if (statSync(backup, { throwIfNoEntry: false })?.isFile()) {
      await unpackFolder(backup, folder);
      requireDatabase(folder);
      return checkData(folder, true);
    }
    requireDatabase(backup);
    mkdirSync(join(folder, 'objects'), { recursive: true, mode: 0o700 });
    await copyFile(join(backup, DATABASE), join(folder, DATABASE));
    return copyObjects(backup, folder, true);
  });
}

/**
 * Checks the database of a data folder and every object that it names.
 * @throws DataUnusable
 */
export async function checkFolder(data: string): Promise<StoreReport> {
  requireDatabase(data);
  return checkData(data, false);
}

async function checkData(folder: string, migrates: boolean): Promise<StoreReport> {
  const database = await openSqlite({ file: join(folder, DATABASE), durable: true, verify: true, migrates });
  try {
    return await checkStore(database, createDiskStorage(join(folder, 'objects'), { sweeps: false }));
  } finally {
    await database.destroy();
  }
}

/** Writes a folder under another name first, so that it is there whole or not at all. */
async function writeFolder(
  target: string,
  write: (folder: string) => Promise<StoreReport>,
): Promise<StoreReport> {
  if (existsSync(target) && (!statSync(target).isDirectory() || readdirSync(target).length > 0))
    throw new BackupRefused(`${target} already exists; choose a folder that does not exist or is empty.`);
  return inPartialFolder(target, async (folder) => {
    const report = await write(join(folder, 'data'));
    rmSync(target, { recursive: true, force: true });
    renameSync(join(folder, 'data'), target);
    return report;
  });
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

async function copyData(data: string, folder: string): Promise<StoreReport> {
  mkdirSync(join(folder, 'objects'), { recursive: true, mode: 0o700 });
  let before = '';
  for (let attempts = 1; ; attempts++) {
    rmSync(join(folder, DATABASE), { force: true });
    snapshotSqlite(join(data, DATABASE), join(folder, DATABASE));
    const report = await copyObjects(data, folder, false);
    // What is wrong twice is wrong in the data itself.
    const found = JSON.stringify(report.problems);
    if (report.problems.length === 0 || found === before || attempts === MAX_ATTEMPTS) return report;
    before = found;
    // Objects that a running service replaced or removed after the snapshot; the next one knows.
    for (const { object } of report.problems) rmSync(join(folder, 'objects', object), { force: true });
  }
}

/** Copies the objects that the copied database names, and checks each. */
async function copyObjects(from: string, to: string, migrates: boolean): Promise<StoreReport> {
  const database = await openSqlite({ file: join(to, DATABASE), durable: true, migrates });
  const source = createDiskStorage(join(from, 'objects'), { sweeps: false });
  const copy = createDiskStorage(join(to, 'objects'), { sweeps: false });
  try {
    for await (const { key } of listExpectedObjects(database)) {
      const { path } = await source.borrow(key);
      const target = (await copy.borrow(key)).path;
      if (existsSync(target)) continue;
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await copyFile(path, target).catch((error: NodeJS.ErrnoException) => {
        // The check below reports it if it is needed.
        if (error.code !== 'ENOENT') throw error;
      });
    }
    return await checkStore(database, copy);
  } finally {
    await database.destroy();
  }
}
