import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { makePrivateDatabase } from './private-file.js';

/** A lock that was not had in time. */
export class LockTimeout extends Error {
  override readonly name = 'LockTimeout';
}

export interface Lock {
  /** Gives the lock back; calling it twice is harmless. */
  release(): void;
}

/**
 * Takes the lock kept at `path`, across processes. The operating system holds it, through SQLite's own file lock,
 * so that it ends with the process however that dies: there is no stale lock to guess about.
 * @param waitMs how long to wait for another holder; the thread sleeps meanwhile, so keep it short in a server
 * @throws LockTimeout when another process still holds it
 */
export function takeLock(path: string, waitMs: number): Lock {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  makePrivateDatabase(path);
  const database = new Database(path, { timeout: waitMs });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    const { code } = error as { code?: string };
    if (code === 'SQLITE_BUSY') throw new LockTimeout(`Another process holds ${path}.`);
    if (code !== 'SQLITE_NOTADB') throw error;
    // Something else was written into the file; nothing in it is worth keeping.
    rmSync(path);
    return takeLock(path, waitMs);
  }
  return { release: () => database.open && database.close() };
}

/** Runs `action` while holding the lock at `path`. */
export async function withLock<Result>(
  path: string,
  waitMs: number,
  action: () => Result | Promise<Result>,
): Promise<Result> {
  const lock = takeLock(path, waitMs);
  try {
    return await action();
  } finally {
    lock.release();
  }
}
