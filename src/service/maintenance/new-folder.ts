import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DATABASE } from '../storage/data-folder.js';
import { listStore, packFolder, removeSidecars, syncPath } from './store-folder.js';

/** The backup could not be written, or the place for it is in use. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
  readonly code = 'backup_refused';
}

/** A data folder under another name, so that it has a database in its own place only when it is whole. */
export interface NewFolder extends AsyncDisposable {
  readonly data: string;
  /** Moves the folder to its place; one that is not kept is removed. */
  keep(): Promise<void>;
}

/**
 * Creates a data folder. A folder that is there stays, because it may be a mount or in a folder that cannot be changed.
 * @param target a folder that does not exist or is empty, or a new archive if it ends in .zip
 * @throws BackupRefused
 */
export function createFolder(target: string, { archives }: { readonly archives: boolean }): NewFolder {
  const isArchive = archives && /\.zip$/i.test(target);
  const isThere = existsSync(target);
  if (isThere && isArchive) throw new BackupRefused(`${target} already exists; choose another name.`);
  if (isThere) requireEntries(target, 0);
  const inside = isThere ? join(target, DATABASE) : target;
  const partial = `${resolve(inside)}.partial-${randomUUID()}`;
  const data = join(partial, 'data');
  mkdirSync(dirname(partial), { recursive: true });
  mkdirSync(join(data, 'objects'), { recursive: true, mode: 0o700 });
  const keep = async () => {
    removeSidecars(join(data, DATABASE));
    if (isArchive) {
      await packFolder(data, join(partial, 'backup.zip'));
      renameSync(join(partial, 'backup.zip'), target);
      return syncPath(dirname(resolve(target)));
    }
    for (const name of [...(await listStore(data)), 'objects', '']) await syncPath(join(data, name));
    if (!isThere) {
      renameSync(data, target);
      return syncPath(dirname(resolve(target)));
    }
    // A service may have started in it since.
    requireEntries(target, 1);
    for (const name of ['objects', DATABASE]) renameSync(join(data, name), join(target, name));
    await syncPath(target);
  };
  const dispose = async () => rmSync(partial, { recursive: true, force: true });
  return { data, keep, [Symbol.asyncDispose]: dispose };
}

/** @throws BackupRefused if a folder has more entries */
function requireEntries(target: string, count: number): void {
  if (!statSync(target).isDirectory() || readdirSync(target).length > count)
    throw new BackupRefused(`${target} already exists; choose a folder that does not exist or is empty.`);
}
