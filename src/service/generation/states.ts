import type { Context, Tx } from '../context.js';
import type { TaskTable } from '../database/schema.js';
import { record } from '../registry/events.js';
import { refund } from './credits.js';
import type { Result } from './results.js';

export type TaskStatus = TaskTable['status'];

// Decided: CREATED → IN_PROGRESS → COMPLETED or FAILED, and no way back.
const before: Readonly<Record<Exclude<TaskStatus, 'CREATED'>, TaskStatus>> = {
  IN_PROGRESS: 'CREATED',
  COMPLETED: 'IN_PROGRESS',
  FAILED: 'IN_PROGRESS',
};

export type Step =
  | { readonly to: 'IN_PROGRESS' }
  | { readonly to: 'COMPLETED'; readonly results: readonly Result[] }
  | { readonly to: 'FAILED'; readonly reason: string };

/**
 * Takes a task one step further, with all that belongs to it: its history, its webhook, and its credits where it
 * fails. What it was given is forgotten once it has ended.
 * @returns false, with nothing changed, where it is not there to take this step
 */
export async function advance(
  tx: Tx,
  { queue, now }: Pick<Context, 'queue' | 'now'>,
  taskId: string,
  step: Step,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tasks')
    .set({
      status: step.to,
      ...(step.to === 'COMPLETED' && { results: JSON.stringify(step.results) }),
      ...(step.to === 'FAILED' && { reason: step.reason }),
    })
    .where('id', '=', taskId)
    .where('status', '=', before[step.to])
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  const reason = step.to === 'FAILED' ? step.reason : undefined;
  await recordStatus(tx, now, { taskId, status: step.to, actor: 'service', reason });
  if (await isAwaited(tx, taskId)) await queue.enqueue(tx, { kind: 'deliver-webhook', key: taskId });
  if (step.to === 'FAILED') await refund(tx, taskId, now());
  if (step.to !== 'IN_PROGRESS') await queue.enqueue(tx, { kind: 'forget-inputs', key: taskId });
  return true;
}

async function isAwaited(tx: Tx, taskId: string): Promise<boolean> {
  const { webhook_url } = await tx
    .selectFrom('tasks')
    .select('webhook_url')
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow();
  return webhook_url !== null;
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
