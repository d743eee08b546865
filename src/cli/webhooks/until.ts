import { setTimeout as pause } from 'node:timers/promises';
import { wait } from '../../client/wait.js';
import { toStillRunningFailure } from '../generation/await-task.js';
import { cannotRead, findEnd, readTask, type Task, type TaskState } from '../generation/task.js';
import { rejectOnAbort } from '../terminal/interrupted.js';
import { type CatchUpContext, readDeliveries, tellInbox } from './catch-up.js';
import type { Event } from './event.js';
import { isDone } from './inbox.js';

/** The end of the task that is waited for, once a webhook told of it and was dealt with. */
export class End {
  readonly told: Promise<TaskState>;
  #tell: (seen: TaskState) => void = () => {};

  constructor(readonly taskId: string | undefined) {
    this.told = new Promise((tell) => {
      this.#tell = tell;
    });
  }

  look({ taskId, seen }: Event): void {
    if (taskId === this.taskId && seen && findEnd(seen.state)) this.#tell(seen);
  }
}

// Decided: a task has ended when its webhook says so or when its status does, whichever is first.
/**
 * How a task ended, once that was dealt with.
 * @throws Failure after the time given; the signal's reason
 */
export async function firstEnd(
  context: CatchUpContext,
  task: Task,
  end: End,
  timeoutMs: number | undefined,
): Promise<TaskState> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const looked = async () => {
    const seen = await pollTask({ ...context, signal }, task);
    if (!seen) return end.told;
    const log = (await readDeliveries(context, task.id)) ?? [];
    // Nobody else sends again what a command could not deal with.
    while (!isDone(await tellInbox(context, task, seen, log))) await pause(restMs, undefined, { signal });
    return seen;
  };
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => over.abort(toStillRunningFailure(task)), timeoutMs);
  try {
    return await Promise.race([end.told, looked(), rejectOnAbort(signal)]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

const always = 365 * 24 * 60 * 60_000;
const restMs = 15_000;

/**
 * Looks at a task until it has ended, whatever hinders it on the way.
 * @returns undefined where its service cannot tell
 */
async function pollTask(context: CatchUpContext, task: Task): Promise<TaskState | undefined> {
  const { output, signal, now } = context;
  for (;;) {
    try {
      return await wait(() => readTask(context, task), {
        isDone: ({ state }) => findEnd(state) !== undefined,
        timeoutMs: always,
        signal,
        now,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (cannotRead(error, task)) {
        const what = `the status of the ${task.noun} ${task.id}`;
        await output.note(`${task.target.name} cannot tell ${what}; its webhook is waited for.`);
        return undefined;
      }
      await output.warn(`${(error as Error).message} It is looked at again.`);
      await pause(restMs, undefined, { signal });
    }
  }
}
