import type { Selectable } from 'kysely';
import type { Database } from '../context.js';
import type { TaskTable } from '../database/schema.js';
import type { Caller } from '../http/authenticate.js';
import { Refused } from '../refused.js';
import type { TaskOperation } from './engine.js';

interface TaskCall {
  readonly params: { readonly task_id: string };
  readonly caller: Caller;
}

/**
 * The task of the path.
 * @throws Refused not_found, also where it is hidden from the caller
 */
export async function visibleTask(
  { params, caller }: TaskCall,
  database: Database,
  isSought: (operation: TaskOperation) => boolean = () => true,
): Promise<Selectable<TaskTable>> {
  const task = await database
    .selectFrom('tasks')
    .selectAll()
    .where('id', '=', params.task_id)
    .executeTakeFirst();
  if (task && isSought(task.operation) && maySee(caller, task.creator)) return task;
  throw new Refused('not_found', 'There is no such task.');
}

// Decided: a task is its creator's and the admins'; a personal access token, which stands for a publisher, sees none.
export function maySee({ kind, userId, admin }: Caller, creator: string): boolean {
  return admin || (userId === creator && kind !== 'personal_access_token');
}
