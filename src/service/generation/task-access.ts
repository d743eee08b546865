import type { TaskOperation } from '../../contract/index.js';
import { type Database, findRow } from '../database/database.js';
import type { TaskRow } from '../database/schema.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';

type Retention = Pick<Context, 'configuration' | 'now'>;

interface TaskCall {
  readonly context: Retention;
  readonly params: { readonly task_id: string };
  readonly caller: Caller;
}

/**
 * Finds the task of the path.
 * @throws Refused not_found, also if it is hidden from the caller
 */
export async function getVisibleTask(
  { params, caller, context }: TaskCall,
  database: Database,
  isExpected: (operation: TaskOperation) => boolean = () => true,
): Promise<TaskRow> {
  const task = await findRow(database, 'tasks', { id: params.task_id });
  if (task && isExpected(task.operation) && (await canSeeTask(database, caller, task)))
    return { ...task, results: readLinkedResults(context, task) };
  throw new Refused('not_found', 'Task not found.');
}

// Decided: a task is visible to its creator and admins, but not to personal access tokens of publishers. An API
// key sees the tasks of its program: those that keys of its user with its name started.
export async function canSeeTask(
  database: Database,
  { kind, userId, admin, tokenId, keyName }: Caller,
  { creator, key_id }: Pick<TaskRow, 'creator' | 'key_id'>,
): Promise<boolean> {
  if (kind !== 'api_key') return admin || (userId === creator && kind !== 'personal_access_token');
  if (key_id === null || key_id === tokenId) return key_id !== null;
  const isOwn = { id: key_id, user_id: userId as string, name: keyName as string };
  return (await findRow(database, 'api_keys', isOwn)) !== undefined;
}

/** The results of a task; none once they are too old for new links, which must not outlast the files. */
export function readLinkedResults(
  { configuration, now }: Retention,
  { created_at, results }: Pick<TaskRow, 'created_at' | 'results'>,
): string | null {
  const days = configuration.retention.results;
  const isOld = days !== false && now() - Date.parse(created_at) > days * 24 * 60 * 60_000;
  return isOld && results !== null ? '[]' : results;
}
