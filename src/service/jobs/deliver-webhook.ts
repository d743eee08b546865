import type { Selectable } from 'kysely';
import { webhookHeaders } from '../../contract/events.js';
import type { Context, Tx } from '../context.js';
import type { TaskTable, WebhookDeliveryTable } from '../database/schema.js';
import { longestWaitMs, nextAttempt } from '../events/pauses.js';
import { type Outcome, post } from '../events/post.js';
import { signingSecrets } from '../events/secrets.js';
import { signatures } from '../events/sign.js';
import { eventOf, webhookBody } from '../generation/webhook-body.js';
import type { Work } from '../queue/queue.js';

// Decided: a task's changes are told in their order, each until it is delivered or given up.
/** Tells a task's webhook of each change of its status that it was not told of. */
export function deliverWebhook(context: Context): Work {
  return async ({ key: taskId }, signal) => {
    for (let next = await pending(context, taskId); next; next = await pending(context, taskId)) {
      const ms = Date.parse(next.next_at as string) - context.now();
      // A later change of the task wakes this job, too.
      if (ms > 0 && ms <= longestWaitMs) return wakeAt(context, next);
      await recordOutcome(context, next, await attempt(context, next, signal));
    }
  };
}

type Delivery = Selectable<WebhookDeliveryTable>;
type Pending = Delivery & { readonly task: Selectable<TaskTable> };

/** The oldest that is yet to be delivered. */
async function pending({ database }: Context, taskId: string): Promise<Pending | undefined> {
  const delivery = await database
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('status', '=', 'pending')
    .orderBy('number')
    .limit(1)
    .executeTakeFirst();
  if (!delivery) return undefined;
  const task = await database
    .selectFrom('tasks')
    .selectAll()
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow();
  return { ...delivery, task };
}

async function attempt(context: Context, delivery: Pending, signal: AbortSignal): Promise<Outcome> {
  const { id, task, url, state } = delivery;
  const { now, database, lookup } = context;
  const secrets = await database
    .transaction()
    .execute((tx) => signingSecrets(tx, { userId: task.creator, now }));
  const timestamp = Math.floor(now() / 1000);
  const body = JSON.stringify(await webhookBody(context, task, state));
  return await post({
    url,
    headers: {
      [webhookHeaders.id]: id,
      [webhookHeaders.timestamp]: String(timestamp),
      [webhookHeaders.signature]: signatures(secrets, { id, timestamp, body }),
      [webhookHeaders.event]: eventOf(task.operation),
    },
    body,
    serviceOrigin: context.baseUrl(),
    signal,
    now,
    lookup,
  });
}

async function recordOutcome(context: Context, delivery: Pending, outcome: Outcome): Promise<void> {
  const attempts = delivery.attempts + 1;
  const next = outcome.kind === 'failed' ? nextOf(context, delivery, attempts, outcome) : undefined;
  const next_at = next === undefined ? null : new Date(next).toISOString();
  const status = statusAfter(outcome, next);
  const reason = outcome.kind === 'delivered' ? null : outcome.reason;
  await context.database.transaction().execute(async (tx) => {
    await tx
      .updateTable('webhook_deliveries')
      .set({ attempts, status, reason, next_at })
      .where('id', '=', delivery.id)
      .execute();
    if (status === 'gone') await stopTelling(tx, delivery);
  });
}

function nextOf(
  { now }: Context,
  { created_at }: Delivery,
  attempts: number,
  outcome: Extract<Outcome, { kind: 'failed' }>,
): number | undefined {
  const { retryAfterMs } = outcome;
  return nextAttempt({ created: Date.parse(created_at), now: now(), attempts, retryAfterMs });
}

function statusAfter({ kind }: Outcome, next: number | undefined): Delivery['status'] {
  if (kind === 'delivered' || kind === 'gone') return kind;
  return next === undefined ? 'failed' : 'pending';
}

/** Who answers 410 is told nothing more of this task. */
async function stopTelling(tx: Tx, { task_id, reason }: Delivery): Promise<void> {
  await tx.updateTable('tasks').set({ webhook_url: null }).where('id', '=', task_id).execute();
  await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'gone', reason, next_at: null })
    .where('task_id', '=', task_id)
    .where('status', '=', 'pending')
    .execute();
}

async function wakeAt({ database, queue }: Context, { task_id, next_at }: Delivery): Promise<void> {
  const job = { kind: 'deliver-webhook', key: task_id, runAt: Date.parse(next_at as string) };
  await database.transaction().execute((tx) => queue.enqueue(tx, job));
}
