import { randomUUID } from 'node:crypto';
import { getWebhookEvent } from '../../contract/events.js';
import { getTaskFacts } from '../../contract/index.js';
import type { Database, Tx } from '../database/database.js';
import type { TaskStatus } from '../database/schema.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import type { Context } from '../operation/context.js';

const MAX_LISTED = 1000;

/** Lists the caller's own deliveries, newest first. */
async function listDeliveries(
  { caller, query }: OperationCall<'webhook.deliveries'>,
  database: Database,
): Promise<OperationAnswer<'webhook.deliveries'>> {
  const rows = await database
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('tasks', 'tasks.id', 'delivery.task_id')
    .select(['delivery.id', 'task_id', 'operation', 'state', 'url', 'attempts', 'delivery.status'])
    .select(['delivery.reason', 'delivery.created_at'])
    // A delivery is not attempted before the earlier ones of its task.
    .select(({ selectFrom }) =>
      selectFrom('webhook_deliveries as waiting')
        .select(({ fn }) => fn.max('waiting.next_at').as('next_at'))
        .whereRef('waiting.task_id', '=', 'delivery.task_id')
        .where('waiting.status', '=', 'pending')
        .as('next_at'),
    )
    .where('delivery.user_id', '=', caller.userId as string)
    .$if(query.task_id !== undefined, (of) => of.where('task_id', '=', query.task_id as string))
    .orderBy('number', 'desc')
    .limit(MAX_LISTED)
    .execute();
  return rows.map(({ operation, reason, next_at, ...row }) => ({
    ...row,
    event: getWebhookEvent(getTaskFacts(operation).kind),
    reason: reason ?? undefined,
    next_at: row.status === 'pending' ? (next_at ?? undefined) : undefined,
  }));
}

/** Schedules the delivery of a task's new status to its webhook, if it has one. */
export async function enqueueDelivery(
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
  await queue.enqueue(tx, { kind: 'deliver-webhook', key: taskId, owner: creator });
}

export const deliveryHandlers = {
  'webhook.deliveries': { read: listDeliveries },
} satisfies Partial<Handlers>;
