import type { Tx } from '../database/database.js';
import type { TaskRow } from '../database/schema.js';
import type { OperationAnswer, OperationCall, PreparedWrite } from '../operation/call.js';
import { getEngine } from '../operation/engine.js';
import { Refused } from '../operation/refused.js';
import { getVisibleTask } from './task-access.js';
import { getTaskKind } from './task-files.js';
import { ACTIVE_STATUSES, advanceTask, TASK_STATUSES } from './task-states.js';
import { viewAccount } from './task-views.js';

type CancelCall = OperationCall<'task.cancel'>;
type CancelAnswer = OperationAnswer<'task.cancel'>;

const CANCELLED = 'cancelled';

/** How long a vendor may take to cancel a task. */
const CANCEL_MS = 15_000;

/** Asks the vendor of a task to cancel it, and ends it as failed. Repeating it changes nothing. */
export async function prepareCancel(call: CancelCall): Promise<PreparedWrite<CancelAnswer>> {
  const { context } = call;
  const task = await getVisibleTask(call, context.database);
  requireCreator(call, task);
  const engine = getEngine(context, task.operation);
  const isAsked = ACTIVE_STATUSES.includes(task.status) && task.asked_at !== null && engine.cancel;
  const isFree = isAsked && (await engine.cancel?.(task.memory ?? undefined, AbortSignal.timeout(CANCEL_MS)));
  return { write: (tx) => cancelTask(call, tx, isFree === true), undo: async () => undefined };
}

// Decided: an admin sees the tasks of others, but only cancels their own, and not with an admin token.
function requireCreator({ caller }: CancelCall, { creator }: Pick<TaskRow, 'creator'>): void {
  if (creator !== caller.userId || caller.kind === 'admin_token')
    throw new Refused('forbidden', 'Only the user who started a task can cancel it.');
}

/** @param isFree whether its vendor cancelled it, so that it costs nothing */
async function cancelTask(call: CancelCall, tx: Tx, isFree: boolean): Promise<CancelAnswer> {
  const { context } = call;
  const task = await getVisibleTask(call, tx);
  const kind = getTaskKind(task.operation);
  const isRunning = task.status === TASK_STATUSES[kind].running;
  const step = {
    to: 'failed',
    reason: 'The task was cancelled.',
    code: CANCELLED,
    cause: 'user',
    actor: task.creator,
    isAsked:
      !isFree && (task.asked_at !== null || (isRunning && !getEngine(context, task.operation).isRemote)),
  } as const;
  const isCancelled = await advanceTask(tx, context, task, step);
  if (!isCancelled && task.error_code !== CANCELLED)
    throw new Refused('invalid_transition', `The task has already ended; its status is ${task.status}.`);
  return viewAccount(tx, await getVisibleTask(call, tx));
}
