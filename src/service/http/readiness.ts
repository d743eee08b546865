import { sql } from 'kysely';
import { isPostgres } from '../database/postgres.js';
import { awaitWithin, TimedOut } from '../network/run-within.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { StorageAway } from '../storage/storage.js';

/** How often it writes at most, so that anonymous requests cannot keep the disk busy. */
const WRITE_INTERVAL_MS = 1_000;
/** How long an answer of the storage counts: a bucket bills each request. */
const STORAGE_INTERVAL_MS = 5_000;
/** A server that is paused accepts queries and answers none. */
const MAX_ANSWER_MS = 5_000;

/**
 * Checks whether the service can take work: the database can be written, its disk has space, and the storage can be used.
 * @param isRunning false while it starts or stops
 * @returns a check that throws if it cannot
 */
export function createReadinessCheck(
  context: Pick<Context, 'database' | 'storage' | 'disk'>,
  isRunning: () => boolean,
): () => Promise<void> {
  const { database, storage } = context;
  let [lookedAt, looking] = [Number.NEGATIVE_INFINITY, Promise.resolve()];
  const checkStorage = () => {
    if (performance.now() - lookedAt < STORAGE_INTERVAL_MS) return looking;
    // Another look begins once this one has its answer.
    lookedAt = Number.POSITIVE_INFINITY;
    looking = storage.requireReady().finally(() => {
      lookedAt = performance.now();
    });
    return looking;
  };
  let writtenAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (!isRunning()) throw new Refused('unavailable', 'The service is starting or stopping.');
    await context.disk.requireFree();
    // Fails if the file is lost or locked.
    const writing = database.transaction().execute(async (tx) => {
      if (performance.now() - writtenAt < WRITE_INTERVAL_MS) return;
      // The number of a transaction that writes: on PostgreSQL a change of rows would be in the way of others.
      if (isPostgres(tx)) await sql`select txid_current()`.execute(tx);
      // The values stay as they were.
      else
        await tx
          .updateTable('totals')
          .set(({ ref }) => ({ value: ref('value') }))
          .execute();
    });
    await awaitWithin(MAX_ANSWER_MS, writing).catch((error) => {
      throw error instanceof TimedOut ? new Refused('unavailable', 'The database does not answer.') : error;
    });
    if (performance.now() - writtenAt >= WRITE_INTERVAL_MS) writtenAt = performance.now();
    await awaitWithin(MAX_ANSWER_MS, checkStorage()).catch((error) => {
      throw error instanceof TimedOut ? new StorageAway('The storage does not answer.') : error;
    });
  };
}
