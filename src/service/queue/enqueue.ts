import { randomUUID } from 'node:crypto';
import { executeBuilt, type Tx, updateRows } from '../database/database.js';
import type { NewJob } from './queue.js';

/** Adds a job, or replaces the time of the one that has its kind and key. @param now milliseconds since the epoch */
export async function insertJob(tx: Tx, job: NewJob, now: number): Promise<void> {
  const { kind, key, owner, runAt = 0, last } = job;
  const isLater = runAt > now;
  // A job that is due immediately stays due even if the clock is set back.
  const [run_at, created_at] = [runAt, now].map((time) => new Date(time).toISOString()) as [string, string];
  const row = { id: randomUUID(), kind, key, owner, priority: last ? 1 : 0, run_at, created_at };
  const columns = Object.keys(row);
  await executeBuilt(tx, isLater ? 'enqueue later' : 'enqueue', Object.values(row), (...values) =>
    tx
      .insertInto('jobs')
      .values({
        ...(Object.fromEntries(columns.map((name, at) => [name, values[at]])) as typeof row),
        attempts: 0,
      })
      .onConflict((conflict) =>
        conflict.columns(['kind', 'key']).doUpdateSet((existing) => ({
          run_at: existing.ref('excluded.run_at'),
          owner: existing.ref('excluded.owner'),
          priority: existing.ref('excluded.priority'),
          // One that is not due has no turn.
          ...(isLater && { turn: null }),
          // This tells a worker at the end that the job was enqueued again.
          attempts: 0,
        })),
      ),
  );
}

/** Makes a job due now. @returns false if there is none of this kind and key */
export async function bringJobForward(tx: Tx, { kind, key }: Pick<NewJob, 'kind' | 'key'>): Promise<boolean> {
  const due = { run_at: new Date(0).toISOString(), attempts: 0 };
  return (await updateRows(tx, 'jobs', { kind, key }, due)) > 0;
}
