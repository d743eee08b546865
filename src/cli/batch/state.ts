import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Lock, LockTimeout, takeLock } from '../../disk/lock.js';
import type { Target } from '../../flows/tasks/task.js';
import { Failure } from '../terminal/failure.js';
import { Journal } from './journal.js';

/**
 * Calls `use` with the state of a batch, locked against other processes.
 * @throws Failure if another process is running the batch
 */
export async function withJournal<Result>(
  stateFolder: string,
  path: string,
  target: Target,
  use: (journal: Journal) => Promise<Result>,
): Promise<Result> {
  const lock = lockState(stateFolder, path);
  try {
    const journal = new Journal(path, target);
    try {
      return await use(journal);
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}

/** The lock is beside the ledger, so that the folder of the user gets nothing but the state file. */
function lockState(stateFolder: string, path: string): Lock {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  try {
    return takeLock(join(stateFolder, 'batches', `${name}.lock`), 0);
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error;
    throw new Failure('Another process is already running this batch.', {
      code: 'batch_running',
      hint: 'Wait for it or stop it; then run the same command again to continue.',
    });
  }
}
