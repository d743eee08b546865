import { randomUUID } from 'node:crypto';
import type { Context, Tx } from '../context.js';
import type { TaskStatus } from '../database/schema.js';

/** Writes into the log that a task's webhook, where it has one, is to be told of its new status, and sees to it. */
export async function promiseDelivery(
  tx: Tx,
  { queue, now }: Pick<Context, 'queue' | 'now'>,
  taskId: string,
  status: TaskStatus,
): Promise<void> {
  const { webhook_url, creator } = await tx
    .selectFrom('tasks')
    .select(['webhook_url', 'creator'])
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow();
  if (webhook_url === null) return;
  const created_at = new Date(now()).toISOString();
  await tx
    .insertInto('webhook_deliveries')
    .values({
      id: `msg_${randomUUID()}`,
      task_id: taskId,
      user_id: creator,
      url: webhook_url,
      state: status,
      status: 'pending',
      attempts: 0,
      reason: null,
      next_at: created_at,
      created_at,
    })
    .execute();
  await queue.enqueue(tx, { kind: 'deliver-webhook', key: taskId });
}
