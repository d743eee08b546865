import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../wire/backoff.js';
import { Database } from './libsql.js';
import { makeDatabase, makePrivateDatabase } from './private-file.js';

/** The lock was not released in time. */
export class LockTimeout extends Error {
  override readonly name = 'LockTimeout';
}

export interface Lock {
  /** Releases the lock. May be called twice. */
  release(): void;
}

/**
 * Takes the lock at `path`, across processes. It is a file lock of SQLite, which the operating system
 * releases however the process ends, so there are no stale locks.
 * @param waitMs how long to wait for another process; the thread is blocked, so keep it short in a server
 * @param mode of the file, if users share the lock
 * @throws LockTimeout if another process still holds the lock
 */
export function takeLock(path: string, waitMs: number, mode?: number): Lock {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (mode === undefined) makePrivateDatabase(path);
  else makeDatabase(path, mode);
  const database = new Database(path, { timeout: waitMs });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    const { code } = error as { code?: string };
    if (code === 'SQLITE_BUSY') throw new LockTimeout(`Another process holds ${path}.`);
    if (code !== 'SQLITE_NOTADB') throw error;
    // Something else was written to the file, and its content is not needed.
    rmSync(path);
    return takeLock(path, waitMs, mode);
  }
  return { release: () => database.open && database.close() };
}

/** The maximum pause between two attempts to take a lock. */
const MAX_PAUSE_MS = 200;

/**
 * Runs `action` while holding the lock at `path`. Waiting does not block the thread, because the holder may
 * be in the same process, and may hold the lock for as long as a request takes.
 * @throws LockTimeout if the lock is still held after `waitMs`
 */
export async function withLock<Result>(
  path: string,
  waitMs: number,
  action: () => Result | Promise<Result>,
  mode?: number,
): Promise<Result> {
  const lock = await waitForLock(path, waitMs, mode);
  try {
    return await action();
  } finally {
    lock.release();
  }
}

async function waitForLock(path: string, waitMs: number, mode: number | undefined): Promise<Lock> {
  const deadline = performance.now() + waitMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return takeLock(path, 0, mode);
    } catch (error) {
      if (!(error instanceof LockTimeout) || performance.now() > deadline) throw error;
    }
    await pause(backoffMs(attempt, { firstMs: 10, maxMs: MAX_PAUSE_MS, factor: 1.5 }));
  }
}
