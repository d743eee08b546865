import { randomUUID } from 'node:crypto';
import { type Tx, updateRows } from '../database/database.js';
import type { NewJob } from './queue.js';

/** Adds a job, or replaces the time of the one that has its kind and key. @param now milliseconds since the epoch */
export async function insertJob(tx: Tx, job: NewJob, now: number): Promise<void> {
  await tx
    .insertInto('jobs')
    .values({
      id: randomUUID(),
      kind: job.kind,
      key: job.key,
      owner: job.owner,
      priority: job.last ? 1 : 0,
      turn: null,
      // A job that is due immediately stays due even if the clock is set back.
      run_at: new Date(job.runAt ?? 0).toISOString(),
      attempts: 0,
      leased_until: null,
      leased_by: null,
      last_error: null,
      created_at: new Date(now).toISOString(),
    })
    .onConflict((conflict) =>
      conflict.columns(['kind', 'key']).doUpdateSet((row) => ({
        run_at: row.ref('excluded.run_at'),
        owner: row.ref('excluded.owner'),
        priority: row.ref('excluded.priority'),
        ...(job.runAt !== undefined && job.runAt > now && { turn: null }),
        // This tells a worker at the end that the job was enqueued again.
        attempts: 0,
      })),
    )
    .execute();
}

/** Makes a job due now. @returns false if there is none of this kind and key */
export async function bringJobForward(tx: Tx, { kind, key }: Pick<NewJob, 'kind' | 'key'>): Promise<boolean> {
  const due = { run_at: new Date(0).toISOString(), attempts: 0 };
  return (await updateRows(tx, 'jobs', { kind, key }, due)) > 0;
}
