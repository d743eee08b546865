import { wait } from '../../client/wait.js';
import { readTask, type Task, type TaskContext } from './task.js';
import { findEnd, type TaskState } from './task-state.js';

/** How long a task is waited for, and who is told of its states. */
export interface AwaitContext extends TaskContext {
  readonly now: () => number;
  readonly timeoutMs: number;
  /** The maximum polling interval. */
  readonly intervalMs?: number;
  /** Called with each state that is read. */
  onState?(state: string): void;
  /** Called when the service does not answer; it is asked again. */
  onFailure?(): void;
}

/**
 * Waits until a task has ended.
 * @throws StillRunningError after `timeoutMs`, with the latest state
 */
export function awaitTask(
  { now, timeoutMs, intervalMs, onState, onFailure, ...context }: AwaitContext,
  task: Task,
): Promise<TaskState> {
  return wait(() => readTask(context, task), {
    isDone: ({ state }) => findEnd(state) !== undefined,
    onAnswer: ({ state }) => onState?.(state),
    onFailure: () => onFailure?.(),
    timeoutMs,
    ...(intervalMs !== undefined && { intervalMs }),
    signal: context.signal,
    now,
  });
}
