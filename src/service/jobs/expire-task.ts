import type { Context } from '../context.js';
import { advance } from '../generation/states.js';
import type { Work } from '../queue/queue.js';

// Decided: an off-peak task that has not ended 48 h after it was created has failed, and is paid back. What an engine
// still makes of it then comes too late.
/** Gives up a task that has not ended in its time. */
export function expireTask(context: Context): Work {
  return async ({ key }) => {
    await context.database.transaction().execute(async (tx) => {
      const task = await tx
        .selectFrom('tasks')
        .select(['id', 'operation'])
        .where('id', '=', key)
        .executeTakeFirstOrThrow();
      const reason = 'It was not made within the time that off-peak tasks have.';
      await advance(tx, context, task, { to: 'failed', reason, code: 'off_peak_expired' });
    });
  };
}
