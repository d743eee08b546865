import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const require = createRequire(import.meta.url);

/** Only the owner may read and write. */
const PRIVATE_MODE = 0o600;

/** Writes a file atomically and durably, readable only by its owner. */
export function writePrivateFile(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Loaded here because most commands only read.
  const writeFileAtomic: typeof import('write-file-atomic') = require('write-file-atomic');
  writeFileAtomic.sync(path, content, { mode: PRIVATE_MODE, fsync: true });
}

/**
 * Reads a file that only its owner may read, after correcting its mode.
 * @param onModeFixed called if others could read the file
 * @returns undefined if there is no such file
 */
export function readPrivateFile(path: string, onModeFixed?: (path: string) => void): string | undefined {
  try {
    if (fixMode(path)) onModeFixed?.(path);
    return readFileSync(path, 'utf8');
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
  try {
    writeFileSync(path, '', { flag: 'wx', mode: PRIVATE_MODE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    for (const file of [path, `${path}-wal`, `${path}-shm`]) fixModeIfPresent(file);
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
