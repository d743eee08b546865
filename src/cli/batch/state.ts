import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Lock, LockTimeout, takeLock } from '../../disk/lock.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { Journal } from './journal.js';

/**
 * Does something with the state of a batch, which no other process uses at that time.
 * @param service what the ledger calls the service it is about
 * @throws Failure where another process is at work on it
 */
export async function withJournal<Result>(
  stateFolder: string,
  path: string,
  service: string,
  use: (journal: Journal) => Promise<Result>,
): Promise<Result> {
  const lock = lockState(stateFolder, path);
  try {
    const journal = new Journal(path, service);
    try {
      return await use(journal);
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}

/** It lies beside the ledger, so that the person's own folder holds nothing but the state. */
function lockState(stateFolder: string, path: string): Lock {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  try {
    return takeLock(join(stateFolder, 'batches', `${name}.lock`), 0);
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error;
    throw new Failure('Another process is at work on this batch.', {
      code: 'batch_running',
      exit: exitCodes.conflict,
      hint: 'Wait for it, or end it; the same command then goes on where it stopped.',
    });
  }
}
