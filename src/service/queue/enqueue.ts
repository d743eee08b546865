import { randomUUID } from 'node:crypto';
import { compileOnce, type Tx, updateRows } from '../database/database.js';
import type { NewJob } from './queue.js';

/** Adds a job, or replaces the time of the one that has its kind and key. @param now milliseconds since the epoch */
export async function insertJob(tx: Tx, job: NewJob, now: number): Promise<void> {
  const isLater = job.runAt !== undefined && job.runAt > now;
  const insert = isLater ? insertLater : insertDue;
  // A job that is due immediately stays due even if the clock is set back.
  const [runAt, createdAt] = [job.runAt ?? 0, now].map((time) => new Date(time).toISOString());
  const priority = job.last ? 1 : 0;
  await insert(
    tx,
    randomUUID(),
    job.kind,
    job.key,
    job.owner,
    priority,
    runAt as string,
    createdAt as string,
  );
}

/** @param turn what becomes of the turn of a job that exists: one that is not due has none */
function createInsert(turn: { readonly turn?: null }) {
  return compileOnce(
    (
      tx,
      id: string,
      kind: string,
      key: string,
      owner: string,
      priority: number,
      run_at: string,
      created_at: string,
    ) =>
      tx
        .insertInto('jobs')
        .values({ id, kind, key, owner, priority, run_at, attempts: 0, created_at })
        .onConflict((conflict) =>
          conflict.columns(['kind', 'key']).doUpdateSet((row) => ({
            run_at: row.ref('excluded.run_at'),
            owner: row.ref('excluded.owner'),
            priority: row.ref('excluded.priority'),
            ...turn,
            // This tells a worker at the end that the job was enqueued again.
            attempts: 0,
          })),
        ),
  );
}

const insertDue = createInsert({});
const insertLater = createInsert({ turn: null });

/** Makes a job due now. @returns false if there is none of this kind and key */
export async function bringJobForward(tx: Tx, { kind, key }: Pick<NewJob, 'kind' | 'key'>): Promise<boolean> {
  const due = { run_at: new Date(0).toISOString(), attempts: 0 };
  return (await updateRows(tx, 'jobs', { kind, key }, due)) > 0;
}
