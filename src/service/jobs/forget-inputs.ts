import type { Context } from '../context.js';
import { removeInputs } from '../generation/files.js';
import type { Work } from '../queue/queue.js';

// Decided: the images a task was given are kept until it has ended.
/** Removes the images of a task that has ended, or that never came to be. */
export function forgetInputs(context: Context): Work {
  return async ({ key: taskId }) => {
    const underWay = await context.database
      .selectFrom('tasks')
      .select('id')
      .where('id', '=', taskId)
      .where('status', 'in', ['CREATED', 'IN_PROGRESS'])
      .executeTakeFirst();
    if (!underWay) await removeInputs(context, taskId);
  };
}
