import type { Database } from '../context.js';
import type { Caller } from '../http/authenticate.js';
import { type Result, resultsOf } from './results.js';
import { maySee } from './visible.js';

/** One video of a task, and the picture that stands for it. */
export interface Creation {
  readonly id: string;
  readonly taskId: string;
  readonly video: Result;
  readonly cover?: Result;
}

// Decided: a creation's id is that of its task, which nobody can guess, and the place of the video among its results.
/** The videos among the results of a task. */
export function creationsIn(taskId: string, results: readonly Result[]): Creation[] {
  return results.flatMap((video, at) => {
    if (video.role !== 'video') return [];
    const next = results[at + 1];
    return [{ id: `${taskId}-${at}`, taskId, video, ...(next?.role === 'cover' && { cover: next }) }];
  });
}

/** The creation with this id, where there is one that the caller may see. */
export async function creationOf(
  database: Database,
  caller: Caller,
  creationId: string,
): Promise<Creation | undefined> {
  const task = await database
    .selectFrom('tasks')
    .select(['id', 'creator', 'results'])
    .where('id', '=', creationId.replace(/-\d+$/, ''))
    .executeTakeFirst();
  if (!task || !maySee(caller, task.creator)) return undefined;
  return creationsIn(task.id, resultsOf(task.results)).find(({ id }) => id === creationId);
}
