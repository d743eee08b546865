import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';

/** Readable and writable by its owner alone. */
const privateMode = 0o600;

/** Writes a whole file or nothing, readable by its owner alone, on disk before it returns. */
export function writePrivateFile(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileAtomic.sync(path, content, { mode: privateMode, fsync: true });
}

/**
 * Reads a file that must be its owner's alone, mending a wider mode first.
 * @param onMended told when the mode was wrong, so that the person hears that others could read it
 * @returns undefined where there is no such file
 */
export function readPrivateFile(path: string, onMended?: (path: string) => void): string | undefined {
  try {
    if (mendMode(path)) onMended?.(path);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw Object.assign(error as NodeJS.ErrnoException, { path });
  }
}

/**
 * Makes a database file its owner's alone before SQLite opens it; what SQLite puts beside it has the same mode.
 * It is never opened here where it exists: closing it would give back the locks that this process holds on it.
 */
export function makePrivateDatabase(path: string): void {
  try {
    writeFileSync(path, '', { flag: 'wx', mode: privateMode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    for (const file of [path, `${path}-wal`, `${path}-shm`]) mendModeIfThere(file);
  }
}

function mendModeIfThere(path: string): void {
  try {
    mendMode(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

// Windows keeps no such modes; its user folders are private already.
function mendMode(path: string): boolean {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return false;
  chmodSync(path, privateMode);
  return true;
}
