import { setTimeout as pause } from 'node:timers/promises';
import { awaitTask } from '../../flows/tasks/await-task.js';
import { cannotRead, type Task } from '../../flows/tasks/task.js';
import type { TaskState } from '../../flows/tasks/task-state.js';
import { MAX_TIMER_MS } from '../../wire/backoff.js';
import { toStillRunningFailure } from '../generation/finish-task.js';
import { rejectOnAbort } from '../terminal/interrupted.js';
import { type CatchUpContext, deliverState, readDeliveries } from './catch-up.js';
import { isDone } from './inbox.js';

// Decided: a task has ended when its webhook or its status says so, whichever is first.
/**
 * Waits until a task has ended and its end is handled.
 * @param reported its end, once the webhook of it is handled
 * @throws Failure after `timeoutMs`; the reason of the signal
 */
export async function awaitEnd(
  context: CatchUpContext,
  task: Task,
  reported: Promise<TaskState>,
  timeoutMs: number | undefined,
): Promise<TaskState> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const pollUntilHandled = async () => {
    const seen = await pollTask({ ...context, signal }, task);
    if (!seen) return reported;
    const log = (await readDeliveries(context, task.id)) ?? [];
    // A polled event is not sent again by the service, so it is repeated here until the command succeeds.
    while (!isDone(await deliverState(context, task, seen, log)))
      await pause(RETRY_PAUSE_MS, undefined, { signal });
    return seen;
  };
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => over.abort(toStillRunningFailure(task)), Math.min(timeoutMs, MAX_TIMER_MS));
  try {
    return await Promise.race([reported, pollUntilHandled(), rejectOnAbort(signal)]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

const YEAR_MS = 365 * 24 * 60 * 60_000;
const RETRY_PAUSE_MS = 15_000;

/**
 * Polls a task until it has ended, through all failures.
 * @returns undefined if the service cannot report its status
 */
async function pollTask(context: CatchUpContext, task: Task): Promise<TaskState | undefined> {
  const { output, signal } = context;
  for (;;) {
    try {
      return await awaitTask(context, task, { now: context.now, timeoutMs: YEAR_MS });
    } catch (error) {
      signal.throwIfAborted();
      if (cannotRead(error, task)) {
        const what = `the status of the ${task.noun} ${task.id}`;
        await output.note(`${task.target.name} cannot report ${what}; waiting for its webhook.`);
        return undefined;
      }
      await output.warn(`${(error as Error).message} Retrying.`);
      await pause(RETRY_PAUSE_MS, undefined, { signal });
    }
  }
}
