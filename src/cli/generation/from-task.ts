import { exitCodes, Failure } from '../failure.js';
import type { Invocation } from '../invocation.js';
import { endOf } from './seen.js';
import { findTask, readTask, type Task } from './task.js';

/** What `--from-task` gives to a request. */
export interface Creation {
  readonly video_creation_id: string;
  readonly video_url: string;
}

/** Stands for a creation that was not looked up: it says to a person what will be there. */
export function placeholderOf(id: string): Creation {
  return { video_creation_id: `<creation of task ${id}>`, video_url: `<video of task ${id}>` };
}

/** Keeps a creation's place where a request is judged before anything is sent. */
export const judgedAs: Creation = { video_creation_id: '1', video_url: 'https://video.invalid/' };

/**
 * The video that a task made.
 * @throws Failure where it made none, or none yet
 */
export async function creationOf(invocation: Invocation, id: string): Promise<Creation> {
  const task = await findTask(invocation, id);
  const seen = await readTask(invocation, task);
  const { creations } = seen.answer as { creations?: { id: string; url: string }[] };
  const [first] = creations ?? [];
  if (first) return { video_creation_id: first.id, video_url: first.url };
  throw nothingToExtend(task, seen.state);
}

function nothingToExtend({ id }: Task, state: string): Failure {
  const over = endOf(state) !== undefined;
  return new Failure(`Task ${id} has no video to extend: it is ${state}.`, {
    code: over ? 'nothing_to_extend' : 'still_running',
    exit: over ? exitCodes.endedBadly : exitCodes.stillGoing,
    ...(!over && { hint: `Wait for it with: regen task wait ${id}` }),
  });
}
