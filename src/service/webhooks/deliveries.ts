import { randomUUID } from 'node:crypto';
import { getWebhookEvent } from '../../contract/events.js';
import { getTaskFacts } from '../../contract/index.js';
import { type Database, getRow, insertRow, type Tx, updateRows } from '../database/database.js';
import type { TaskStatus } from '../database/task-tables.js';
import type { Handlers, OperationAnswer, OperationCall, Read, Write } from '../operation/call.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { requireWebhookQuota } from '../operation/quota.js';
import { Refused } from '../operation/refused.js';

const MAX_LISTED = 1000;

type Delivery = OperationAnswer<'webhook.resend'>;

const listDeliveries: Read<'webhook.deliveries'> = async ({ caller, query }, database) => {
  const rows = await selectDeliveries(database, caller)
    .$if(query.task_id !== undefined, (of) => of.where('task_id', '=', query.task_id as string))
    .orderBy('number', 'desc')
    .limit(MAX_LISTED)
    .execute();
  return rows.map(viewDelivery);
};

function selectDeliveries(database: Database, { userId }: Caller) {
  return (
    database
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
      .select(({ selectFrom }) =>
        selectFrom('webhook_deliveries as earlier')
          .select('earlier.id')
          .whereRef('earlier.task_id', '=', 'delivery.task_id')
          .whereRef('earlier.number', '<', 'delivery.number')
          .where('earlier.status', '=', 'pending')
          .orderBy('earlier.number')
          .limit(1)
          .as('earlier'),
      )
      .where('delivery.user_id', '=', userId as string)
  );
}

type DeliveryFacts = Awaited<ReturnType<ReturnType<typeof selectDeliveries>['executeTakeFirstOrThrow']>>;

function viewDelivery({ operation, reason, next_at, earlier, ...row }: DeliveryFacts): Delivery {
  const waiting = row.status === 'pending' && earlier ? `it waits for ${earlier}` : undefined;
  return {
    ...row,
    event: getWebhookEvent(getTaskFacts(operation).kind),
    reason: reason ?? waiting,
    next_at: row.status === 'pending' ? (next_at ?? undefined) : undefined,
  };
}

const resendDelivery: Write<'webhook.resend'> = async (call, tx) => {
  const { id, task_id, url, status } = await getOwnDelivery(call, tx);
  const { quotas } = call.context.configuration;
  if (status !== 'pending') await requireWebhookQuota(tx, quotas, call.caller.userId as string);
  const next_at = new Date(call.context.now()).toISOString();
  await updateRows(tx, 'webhook_deliveries', { id }, { status: 'pending', reason: null, next_at });
  await tx
    .updateTable('webhook_deliveries')
    .set({ next_at })
    .where('task_id', '=', task_id)
    .where('status', '=', 'pending')
    .where('number', '<', (of) => of.selectFrom('webhook_deliveries').select('number').where('id', '=', id))
    .execute();
  // The receiver that answered 410 is there again, for later changes too.
  if (status === 'gone') await updateRows(tx, 'tasks', { id: task_id }, { webhook_url: url });
  return attemptNext(call, tx, task_id);
};

const cancelDelivery: Write<'webhook.cancel'> = async (call, tx) => {
  const { id, task_id, status } = await getOwnDelivery(call, tx);
  if (status !== 'pending')
    throw new Refused(
      'invalid_transition',
      `Only a pending delivery can be cancelled; this one is ${status}.`,
    );
  const change = { status: 'cancelled', reason: 'cancelled by its user', next_at: null } as const;
  await updateRows(tx, 'webhook_deliveries', { id }, change);
  return attemptNext(call, tx, task_id);
};

type OwnDeliveryCall = OperationCall<'webhook.resend' | 'webhook.cancel'>;

/** @throws Refused not_found, also if it is another user's */
async function getOwnDelivery({ params, caller }: OwnDeliveryCall, tx: Tx): Promise<Delivery> {
  const row = await selectDeliveries(tx, caller)
    .where('delivery.id', '=', params.deliveryId)
    .executeTakeFirst();
  if (!row) throw new Refused('not_found', `You have no delivery ${params.deliveryId}.`);
  return viewDelivery(row);
}

/** Schedules the next pending delivery of a task, and answers with the delivery of the path. */
async function attemptNext(call: OwnDeliveryCall, tx: Tx, key: string): Promise<Delivery> {
  const { context, caller } = call;
  await context.queue.enqueue(tx, { kind: 'deliver-webhook', key, owner: caller.userId as string });
  return getOwnDelivery(call, tx);
}

/** Schedules the delivery of a task's new status to its webhook, if it has one. */
export async function enqueueDelivery(
  tx: Tx,
  { queue, now }: Pick<Context, 'queue' | 'now'>,
  taskId: string,
  status: TaskStatus,
): Promise<void> {
  const { webhook_url, creator } = await getRow(tx, 'tasks', { id: taskId });
  if (webhook_url === null) return;
  const created_at = new Date(now()).toISOString();
  await insertRow(tx, 'webhook_deliveries', {
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
  });
  await queue.enqueue(tx, { kind: 'deliver-webhook', key: taskId, owner: creator });
}

export const deliveryHandlers = {
  'webhook.deliveries': { read: listDeliveries },
  'webhook.resend': { write: resendDelivery },
  'webhook.cancel': { write: cancelDelivery },
} satisfies Partial<Handlers>;
