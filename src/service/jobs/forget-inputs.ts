import type { Context } from '../context.js';
import { removeInputs } from '../generation/files.js';
import { underWay } from '../generation/states.js';
import type { Work } from '../queue/queue.js';

// Decided: the images a task was given are kept until it has ended.
/** Removes the images of a task that has ended, or that never came to be. */
export function forgetInputs(context: Context): Work {
  return async ({ key: taskId }) => {
    const task = await context.database
      .selectFrom('tasks')
      .select('id')
      .where('id', '=', taskId)
      .where('status', 'in', underWay)
      .executeTakeFirst();
    if (!task) await removeInputs(context, taskId);
  };
}
