import type { Result } from './results.js';

/** One video of a task, and the picture that stands for it. */
export interface Creation {
  readonly id: string;
  readonly video: Result;
  readonly cover?: Result;
}

// Decided: a creation's id is that of its task, which nobody can guess, and the place of the video among its results.
/** The videos among the results of a task. */
export function creationsIn(taskId: string, results: readonly Result[]): Creation[] {
  return results.flatMap((video, at) => {
    if (video.role !== 'video') return [];
    const next = results[at + 1];
    return [{ id: `${taskId}-${at}`, video, ...(next?.role === 'cover' && { cover: next }) }];
  });
}
