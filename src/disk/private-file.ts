import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, sep } from 'node:path';
import { readFolderFile, requireRegular, UnfitFileError } from './folder-file.js';
import { createPartPath } from './part-file.js';

/** Only the owner may read and write. */
const PRIVATE_MODE = 0o600;
/** Almost the longest text that Node.js can hold. */
const MAX_PRIVATE_BYTES = 500 * 1024 ** 2;

/** Writes a file atomically and durably, readable only by its owner. */
export function writePrivateFile(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, content, PRIVATE_MODE);
}

/**
 * Writes a file atomically and durably. If that fails, as on a full disk, the file stays as it was. It keeps its owner,
 * and its mode unless one is given; a symbolic link stays one.
 */
export function replaceFile(path: string, content: string | Buffer, mode?: number): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const before = statSync(target, { throwIfNoEntry: false });
  if (before) requireRegular(target, before);
  const temporary = createPartPath(dirname(target));
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      // Unlike writeSync, it continues after the disk took a part, and then fails.
      writeFileSync(file, content);
      if (before) keepOwner(file, before);
      if (before && mode === undefined) fchmodSync(file, before.mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Replaces a file in a folder that another person may have made: nothing outside of it, where a link may lead.
 * @throws UnfitFileError if it is a link out of the folder, or not a regular file
 */
export function replaceFolderFile(path: string, content: string): void {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink && (!existsSync(path) || !realpathSync(path).startsWith(realpathSync(dirname(path)) + sep)))
    throw new UnfitFileError(path, 'EFTYPE', 'is a link to a place outside its folder');
  replaceFile(path, content);
}

function keepOwner(file: number, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  try {
    fchownSync(file, uid, gid);
  } catch {
    // Only root may give a file away.
  }
}

/** Appends to an open file: all of the text or, if that fails, nothing. */
export function appendWhole(file: number, text: string): void {
  const { size } = fstatSync(file);
  try {
    appendFileSync(file, text);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

/**
 * Reads a file that only its owner may read, after correcting its mode.
 * @param onModeFixed called if others could read the file
 * @returns undefined if there is no such file
 */
export function readPrivateFile(path: string, onModeFixed?: (path: string) => void): string | undefined {
  try {
    if (fixMode(path)) onModeFixed?.(path);
    return readFolderFile(path, MAX_PRIVATE_BYTES).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw Object.assign(error as NodeJS.ErrnoException, { path });
  }
}

/**
 * Makes a database file readable only by its owner before SQLite opens it; the files beside it get the same
 * mode. An existing file is not opened: closing it would release the locks that this process has on it.
 */
export function makePrivateDatabase(path: string): void {
  if (!makeDatabase(path, PRIVATE_MODE))
    for (const file of [path, `${path}-wal`, `${path}-shm`]) fixModeIfPresent(file);
}

/**
 * Makes a database file with a mode; the umask does not change it.
 * @returns false if it exists
 */
export function makeDatabase(path: string, mode: number): boolean {
  try {
    writeFileSync(path, '', { flag: 'wx', mode });
    chmodSync(path, mode);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function fixModeIfPresent(path: string): void {
  try {
    fixMode(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

// Windows has no such modes; its user folders are private.
function fixMode(path: string): boolean {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return false;
  chmodSync(path, PRIVATE_MODE);
  return true;
}
