import type { TaskOperation } from '../../contract/index.js';
import type { Database } from '../database/database.js';
import type { TaskRow } from '../database/schema.js';
import type { Caller } from '../operation/caller.js';
import { Refused } from '../operation/refused.js';

interface TaskCall {
  readonly params: { readonly task_id: string };
  readonly caller: Caller;
}

/**
 * Finds the task of the path.
 * @throws Refused not_found, also if it is hidden from the caller
 */
export async function getVisibleTask(
  { params, caller }: TaskCall,
  database: Database,
  isExpected: (operation: TaskOperation) => boolean = () => true,
): Promise<TaskRow> {
  const task = await database
    .selectFrom('tasks')
    .selectAll()
    .where('id', '=', params.task_id)
    .executeTakeFirst();
  if (task && isExpected(task.operation) && canSeeTask(caller, task.creator)) return task;
  throw new Refused('not_found', 'Task not found.');
}

// Decided: a task is visible to its creator and admins, but not to personal access tokens of publishers.
export function canSeeTask({ kind, userId, admin }: Caller, creator: string): boolean {
  return admin || (userId === creator && kind !== 'personal_access_token');
}
