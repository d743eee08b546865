import type { Tx } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import { Refused } from '../operation/refused.js';
import { getVisibleTask } from './task-access.js';
import { advanceTask } from './task-states.js';
import { viewAccount } from './task-views.js';

const CANCELLED = 'cancelled';

/** Ends a task as failed, and refunds it. Repeating it changes nothing. */
async function cancelTask(
  call: OperationCall<'task.cancel'>,
  tx: Tx,
): Promise<OperationAnswer<'task.cancel'>> {
  const { caller, context } = call;
  const task = await getVisibleTask(call, tx);
  // Decided: an admin sees the tasks of others, but only cancels their own, and not with an admin token.
  if (task.creator !== caller.userId || caller.kind === 'admin_token')
    throw new Refused('forbidden', 'Only the user who started a task can cancel it.');
  const step = {
    to: 'failed',
    reason: 'The task was cancelled.',
    code: CANCELLED,
    actor: task.creator,
  } as const;
  const isCancelled = await advanceTask(tx, context, task, step);
  if (!isCancelled && task.error_code !== CANCELLED)
    throw new Refused('invalid_transition', `The task has already ended; its status is ${task.status}.`);
  return viewAccount(tx, await getVisibleTask(call, tx));
}

export const cancelTaskHandlers = {
  'task.cancel': { write: cancelTask },
} satisfies Partial<Handlers>;
