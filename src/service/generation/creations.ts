import { type Database, findRow } from '../database/database.js';
import type { Caller } from '../operation/caller.js';
import { parseResults, type TaskResult } from './results.js';
import { canSeeTask } from './task-access.js';

/** One video of a task and its cover image. */
export interface Creation {
  readonly id: string;
  readonly taskId: string;
  readonly video: TaskResult;
  readonly cover?: TaskResult;
}

// Decided: a creation's id is its task's id, which cannot be guessed, and the video's index in the results.
/** Lists the videos among the results of a task. */
export function listCreations(taskId: string, results: readonly TaskResult[]): Creation[] {
  return results.flatMap((video, at) => {
    if (video.role !== 'video') return [];
    const next = results[at + 1];
    return [{ id: `${taskId}-${at}`, taskId, video, ...(next?.role === 'cover' && { cover: next }) }];
  });
}

/** @returns undefined if there is no creation with this id that the caller may see */
export async function findCreation(
  database: Database,
  caller: Caller,
  creationId: string,
): Promise<Creation | undefined> {
  const task = await findRow(database, 'tasks', { id: creationId.replace(/-\d+$/, '') });
  if (!task || !canSeeTask(caller, task)) return undefined;
  return listCreations(task.id, parseResults(task.results)).find(({ id }) => id === creationId);
}
