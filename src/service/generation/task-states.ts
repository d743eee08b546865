import type { TaskOperation } from '../../contract/index.js';
import type { TaskKind } from '../../contract/operation.js';
import { type Actor, recordEvent } from '../database/audit-log.js';
import { deleteRows, getRow, type Tx, updateRows } from '../database/database.js';
import type { TaskStatus } from '../database/task-tables.js';
import type { Context } from '../operation/context.js';
import { enqueueDelivery } from '../webhooks/deliveries.js';
import { type FailureCause, settleCredits } from './credits.js';
import type { TaskResult } from './results.js';
import { getTaskKind } from './task-files.js';

type TaskStage = 'created' | 'queued' | 'running' | 'done' | 'failed';

/** The status of each stage, by kind of task. */
export const TASK_STATUSES = {
  // Image tasks have no status for being queued.
  image: {
    created: 'CREATED',
    queued: 'CREATED',
    running: 'IN_PROGRESS',
    done: 'COMPLETED',
    failed: 'FAILED',
  },
  video: { created: 'created', queued: 'queueing', running: 'processing', done: 'success', failed: 'failed' },
} as const satisfies Record<TaskKind, Record<TaskStage, TaskStatus>>;

// Decided: CREATED → IN_PROGRESS → COMPLETED or FAILED; created → queueing → processing → success or failed.
// A task may also fail before it runs: a video that waits too long, one that no engine takes, and any that is cancelled.
// A task never returns to an earlier status.
const PREVIOUS_STATUSES: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  CREATED: [],
  IN_PROGRESS: ['CREATED'],
  COMPLETED: ['IN_PROGRESS'],
  FAILED: ['CREATED', 'IN_PROGRESS'],
  created: [],
  queueing: ['created'],
  processing: ['queueing'],
  success: ['processing'],
  failed: ['created', 'queueing', 'processing'],
};

export const ACTIVE_STATUSES: readonly TaskStatus[] = [...new Set(Object.values(PREVIOUS_STATUSES).flat())];

export type TaskStep =
  | { readonly to: 'queued' | 'running' }
  | { readonly to: 'done'; readonly results: readonly TaskResult[] }
  | {
      readonly to: 'failed';
      readonly reason: string;
      readonly code: string;
      readonly cause: FailureCause;
      /** Who ended it; absent: the service. */
      readonly actor?: Actor;
      /** Whether its maker began; absent: whether a vendor was asked. */
      readonly isAsked?: boolean;
    };

export interface TaskRef {
  readonly id: string;
  readonly operation: TaskOperation;
}

/**
 * Moves a task to its next status, with history, webhook delivery, refund and the removal of its inputs.
 * @param removesInputs the caller is a job that removes them, and runs again until it has
 * @returns false, with nothing changed, if its current status does not allow this step
 */
export async function advanceTask(
  tx: Tx,
  { queue, now }: Pick<Context, 'queue' | 'now'>,
  { id, operation }: TaskRef,
  step: TaskStep,
  { removesInputs = false } = {},
): Promise<boolean> {
  const status = TASK_STATUSES[getTaskKind(operation)][step.to];
  const updated = await updateRows(
    tx,
    'tasks',
    { id, status: PREVIOUS_STATUSES[status] },
    {
      status,
      ...(step.to === 'done' && { results: JSON.stringify(step.results) }),
      ...(step.to === 'failed' && { reason: step.reason, error_code: step.code }),
    },
  );
  if (updated === 0) return false;
  const { reason, actor = 'service' } = step.to === 'failed' ? step : {};
  await recordTaskStatus(tx, now, { taskId: id, status, actor, reason });
  // Decided: webhooks do not report that a task is queued.
  if (step.to !== 'queued') await enqueueDelivery(tx, { queue, now }, id, status);
  if (step.to === 'failed') {
    const isAsked = step.isAsked ?? (await getRow(tx, 'tasks', { id })).asked_at !== null;
    await settleCredits(tx, id, { cause: step.cause, isAsked, now: now() });
  }
  if (ACTIVE_STATUSES.includes(status)) return true;
  const forget = { kind: 'forget-inputs', key: id };
  if (removesInputs) await deleteRows(tx, 'jobs', forget);
  // The owner is the service: removing inputs is not part of anyone's turn.
  else await queue.enqueue(tx, { ...forget, owner: 'service' });
  return true;
}

interface TaskStatusRecord {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly actor: Actor;
  readonly reason?: string | undefined;
}

/** Appends to a task's history; for a new row only, because `advanceTask` does this itself. */
export async function recordTaskStatus(
  tx: Tx,
  now: Context['now'],
  { taskId, status, actor, reason }: TaskStatusRecord,
): Promise<void> {
  await recordEvent(tx, now, { actor, kind: 'task', id: taskId, action: 'task.status', status, reason });
}
