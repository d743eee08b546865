import type { Command, FlagValues } from '../command/command.js';
import type { FailureDetail } from '../command/request.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { findEnd, findTask, readTask, type Task, type TaskContext } from './task.js';

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

/** Said in place of what the interface says, which knows of no tasks. */
export const unnamedProblem: FailureDetail = {
  path: '--from-task',
  message: 'is required, or --video-creation-id together with --video-url',
};

/** Whether a command that makes a video longer names none. */
export function isUnnamed({ flags: known }: Command, flags: FlagValues, body: object): boolean {
  const takesTask = known.some(({ name }) => name === 'from-task');
  return takesTask && flags['from-task'] === undefined && creationIn(body).length === 0;
}

/** What names the video besides `--from-task`. */
export function namedTwice(flags: FlagValues, body: object): FailureDetail[] {
  if (flags['from-task'] === undefined) return [];
  return creationIn(body).map((field) => ({
    path: '--from-task',
    message: `gives the ${field} already; leave that out`,
  }));
}

function creationIn(body: object): string[] {
  return Object.keys(judgedAs).filter((field) => field in body);
}

/**
 * The video that a task made.
 * @throws Failure where it made none, or none yet
 */
export async function creationOf(context: TaskContext, id: string): Promise<Creation> {
  const task = await findTask(context, id);
  const seen = await readTask(context, task);
  const { creations } = seen.answer as { creations?: { id: string; url: string }[] };
  const [first] = creations ?? [];
  if (first) return { video_creation_id: first.id, video_url: first.url };
  throw nothingToExtend(task, seen.state);
}

function nothingToExtend({ id }: Task, state: string): Failure {
  const over = findEnd(state) !== undefined;
  return new Failure(`Task ${id} has no video to extend: it is ${state}.`, {
    code: over ? 'nothing_to_extend' : 'still_running',
    exit: over ? exitCodes.endedBadly : exitCodes.stillGoing,
    ...(!over && { hint: `Wait for it with: regen task wait ${id}` }),
  });
}
