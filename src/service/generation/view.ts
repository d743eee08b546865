import type { Selectable } from 'kysely';
import type { ImageTask } from '../../contract/image-task.js';
import type { Context, Database } from '../context.js';
import type { TaskTable } from '../database/schema.js';
import type { Caller } from '../http/authenticate.js';
import { resultUrl } from '../http/signed-urls.js';
import { Refused } from '../refused.js';
import type { ImageOperation } from './engine.js';
import { resultsOf } from './results.js';

type Shown = Pick<Selectable<TaskTable>, 'id' | 'status' | 'results'>;

/** A task as the contract spells it; the addresses of its results are made for this answer. */
export function taskView(context: Context, { id, status, results }: Shown): ImageTask {
  return {
    generated: resultsOf(results).map(({ name }) => resultUrl(context, { taskId: id, name })),
    status,
    task_id: id,
  };
}

interface StatusCall {
  readonly params: { readonly task_id: string };
  readonly caller: Caller;
  readonly context: Context;
}

/** Answers the status operation of the tasks that `operation` starts. */
export function statusOf(
  operation: ImageOperation,
): (call: StatusCall, database: Database) => Promise<ImageTask> {
  return async ({ params, caller, context }, database) => {
    const task = await database
      .selectFrom('tasks')
      .select(['id', 'status', 'results', 'creator'])
      .where('id', '=', params.task_id)
      .where('operation', '=', operation)
      .executeTakeFirst();
    if (!task || !maySee(caller, task.creator)) throw noSuchTask();
    return taskView(context, task);
  };
}

// Decided: a task is its creator's and the admins'; a personal access token, which stands for a publisher, sees none.
export function maySee({ kind, userId, admin }: Caller, creator: string): boolean {
  return admin || (userId === creator && kind !== 'personal_access_token');
}

export function noSuchTask(): Refused {
  return new Refused('not_found', 'There is no such task.');
}
