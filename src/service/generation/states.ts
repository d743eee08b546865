import type { Context, Tx } from '../context.js';
import type { TaskStatus } from '../database/schema.js';
import { promiseDelivery } from '../events/promise.js';
import { record } from '../registry/events.js';
import { refund } from './credits.js';
import type { TaskOperation } from './engine.js';
import { kindOf, type TaskKind } from './operations.js';
import type { Result } from './results.js';

type Stage = 'created' | 'queued' | 'running' | 'done' | 'failed';

/** Each stage of a task as the contract spells it for tasks of its kind. */
export const statuses = {
  // Images have no word for waiting.
  image: {
    created: 'CREATED',
    queued: 'CREATED',
    running: 'IN_PROGRESS',
    done: 'COMPLETED',
    failed: 'FAILED',
  },
  video: { created: 'created', queued: 'queueing', running: 'processing', done: 'success', failed: 'failed' },
} as const satisfies Record<TaskKind, Record<Stage, TaskStatus>>;

// Decided: CREATED → IN_PROGRESS → COMPLETED or FAILED; created → queueing → processing → success or failed. A video
// task may also fail while it waits, where it waits too long. There is no way back.
const before: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  CREATED: [],
  IN_PROGRESS: ['CREATED'],
  COMPLETED: ['IN_PROGRESS'],
  FAILED: ['IN_PROGRESS'],
  created: [],
  queueing: ['created'],
  processing: ['queueing'],
  success: ['processing'],
  failed: ['queueing', 'processing'],
};

/** What a task that has not ended may be. */
export const underWay: readonly TaskStatus[] = [
  'CREATED',
  'IN_PROGRESS',
  'created',
  'queueing',
  'processing',
];

export type Step =
  | { readonly to: 'queued' | 'running' }
  | { readonly to: 'done'; readonly results: readonly Result[] }
  | { readonly to: 'failed'; readonly reason: string; readonly code: string };

/** Which task takes a step. */
export interface Stepping {
  readonly id: string;
  readonly operation: TaskOperation;
}

/**
 * Takes a task one step further, with all that belongs to it: its history, its webhook, and its credits where it
 * fails. What it was given is forgotten once it has ended.
 * @returns false, with nothing changed, where it is not there to take this step
 */
export async function advance(
  tx: Tx,
  { queue, now }: Pick<Context, 'queue' | 'now'>,
  { id, operation }: Stepping,
  step: Step,
): Promise<boolean> {
  const status = statuses[kindOf(operation)][step.to];
  const { numUpdatedRows } = await tx
    .updateTable('tasks')
    .set({
      status,
      ...(step.to === 'done' && { results: JSON.stringify(step.results) }),
      ...(step.to === 'failed' && { reason: step.reason, error_code: step.code }),
    })
    .where('id', '=', id)
    .where('status', 'in', before[status])
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  const reason = step.to === 'failed' ? step.reason : undefined;
  await recordStatus(tx, now, { taskId: id, status, actor: 'service', reason });
  // Decided: that a task waits is told to nobody.
  if (step.to !== 'queued') await promiseDelivery(tx, { queue, now }, id, status);
  if (step.to === 'failed') await refund(tx, id, now());
  if (!underWay.includes(status)) await queue.enqueue(tx, { kind: 'forget-inputs', key: id });
  return true;
}

export interface StatusRecord {
  readonly taskId: string;
  readonly status: TaskStatus;
  /** A user id, or `service`. */
  readonly actor: string;
  readonly reason?: string;
}

/** Appends to a task's history; `advance` does it by itself, so this is for a row just inserted. */
export async function recordStatus(
  tx: Tx,
  now: Context['now'],
  { taskId, status, actor, reason }: StatusRecord,
): Promise<void> {
  await record(tx, now, { actor, kind: 'task', id: taskId, action: 'task.status', status, reason });
}
