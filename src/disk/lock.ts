import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
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

/** The longest pause before a lock that another holds is asked for again. */
const longestPauseMs = 200;

/**
 * Runs `action` while holding the lock at `path`. Others may hold it for as long as a request takes, and may be in this
 * very process, so the wait leaves the thread free.
 * @throws LockTimeout when another still holds it after `waitMs`
 */
export async function withLock<Result>(
  path: string,
  waitMs: number,
  action: () => Result | Promise<Result>,
): Promise<Result> {
  const lock = await lockWithin(path, waitMs);
  try {
    return await action();
  } finally {
    lock.release();
  }
}

async function lockWithin(path: string, waitMs: number): Promise<Lock> {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    try {
      return takeLock(path, 0);
    } catch (error) {
      if (!(error instanceof LockTimeout) || performance.now() > deadline) throw error;
    }
    // Those who wait at once must not ask at once.
    await pause(pauseMs * (0.5 + Math.random()));
  }
}
