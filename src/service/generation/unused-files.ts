import { findRow } from '../database/database.js';
import type { Context } from '../operation/context.js';
import { removeOthers } from '../storage/storage.js';
import { getResultKey, parseResults } from './results.js';
import { ACTIVE_STATUSES } from './task-states.js';

/** Removes the files of a task that it no longer needs: its inputs once it has ended, and results of failed attempts. */
export async function removeUnusedFiles(
  { database, storage }: Pick<Context, 'database' | 'storage'>,
  taskId: string,
): Promise<void> {
  const task = await findRow(database, 'tasks', { id: taskId });
  if (task && ACTIVE_STATUSES.includes(task.status)) return;
  const results = parseResults(task?.results ?? null);
  const kept = results.map((result) => getResultKey(taskId, result));
  await removeOthers(storage, `tasks/${taskId}`, kept);
}
