import { FlowError } from '../flow-error.js';
import type { Entry } from './ledger.js';

/** The error for a task that must not be paid for again, although it cannot be resumed. */
export function createHiddenError({ id, task_id, service }: Entry): FlowError {
  const name = task_id === undefined ? `The request ${id}` : `The task ${task_id}`;
  return new FlowError(
    'task_hidden',
    `${name} of an earlier run is not shown to this credential: another one started it, or ${service} no longer has it.`,
  );
}
