import type { Selectable } from 'kysely';
import { getWebhookEvent } from '../../contract/events.js';
import { getTaskFacts } from '../../contract/index.js';
import { createWebhookHeaders } from '../../wire/webhook-signature.js';
import { type Database, getRow, type Tx, updateRows } from '../database/database.js';
import type { TaskRow } from '../database/schema.js';
import type { WebhookDeliveryTable } from '../database/task-tables.js';
import { buildWebhookBody } from '../generation/task-views.js';
import { type Context, getOwnOrigin } from '../operation/context.js';
import type { JobHandler } from '../queue/queue.js';
import { getNextAttemptTime, MAX_WAIT_MS } from '../webhooks/next-attempt.js';
import { type PostOutcome, postWebhook } from '../webhooks/post.js';
import { listSigningSecrets } from '../webhooks/secrets.js';

// Decided: the changes of a task are delivered in order, each until it succeeds or is given up.
/** Delivers the pending changes of a task's status to its webhook. */
export function deliverWebhook(context: Context): JobHandler {
  return async ({ key: taskId, commit }, signal) => {
    for (let next = await findNext(context, taskId); next; next = await findNext(context, taskId)) {
      const ms = Date.parse(next.next_at as string) - context.now();
      // A later change of the task also starts this job.
      if (ms > 0 && ms <= MAX_WAIT_MS) return commit((tx) => enqueueWakeUp(tx, context, taskId));
      const outcome = await attemptPost(context, next, signal);
      context.count('webhook_attempts', { outcome: outcome.kind });
      await commit((tx) => recordOutcome(tx, context, next, outcome));
    }
  };
}

type DeliveryRow = Selectable<WebhookDeliveryTable>;
type Pending = DeliveryRow & { readonly task: TaskRow };

function findDelivery(database: Database, taskId: string): Promise<DeliveryRow | undefined> {
  return database
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('status', '=', 'pending')
    .orderBy('number')
    .limit(1)
    .executeTakeFirst();
}

async function findNext({ database }: Context, taskId: string): Promise<Pending | undefined> {
  const delivery = await findDelivery(database, taskId);
  if (!delivery) return undefined;
  const task = await getRow(database, 'tasks', { id: taskId });
  return { ...delivery, task };
}

async function attemptPost(context: Context, delivery: Pending, signal: AbortSignal): Promise<PostOutcome> {
  const { id, task, url, state } = delivery;
  const { now, database, lookup } = context;
  const secrets = await database
    .transaction()
    .execute((tx) => listSigningSecrets(tx, { userId: task.creator, now }));
  const body = JSON.stringify(await buildWebhookBody(context, task, state));
  const event = getWebhookEvent(getTaskFacts(task.operation).kind);
  return await postWebhook({
    url,
    headers: createWebhookHeaders(secrets, { id, body, event, now: now() }),
    body,
    ...getOwnOrigin(context, 'webhooks'),
    signal,
    now,
    lookup,
  });
}

async function recordOutcome(
  tx: Tx,
  context: Context,
  delivery: Pending,
  outcome: PostOutcome,
): Promise<void> {
  const attempts = delivery.attempts + 1;
  const next = outcome.kind === 'failed' ? getNextTime(context, delivery, attempts, outcome) : undefined;
  const next_at = next === undefined ? null : new Date(next).toISOString();
  const status = getStatusAfter(outcome, next);
  const reason = outcome.kind === 'delivered' ? null : outcome.reason;
  await tx
    .updateTable('webhook_deliveries')
    .set({ attempts, status, reason, next_at })
    .where('id', '=', delivery.id)
    // One that was cancelled during the attempt stays so, unless it arrived.
    .$if(outcome.kind !== 'delivered', (query) => query.where('status', '=', 'pending'))
    .execute();
  if (status === 'gone') await stopDeliveries(tx, delivery);
}

function getNextTime(
  { now }: Context,
  { created_at }: DeliveryRow,
  attempts: number,
  outcome: Extract<PostOutcome, { kind: 'failed' }>,
): number | undefined {
  const { retryAfterMs } = outcome;
  return getNextAttemptTime({ created: Date.parse(created_at), now: now(), attempts, retryAfterMs });
}

function getStatusAfter({ kind }: PostOutcome, next: number | undefined): DeliveryRow['status'] {
  if (kind === 'delivered' || kind === 'gone') return kind;
  return next === undefined ? 'failed' : 'pending';
}

/** Cancels the remaining deliveries of the task, because the receiver answered 410. */
async function stopDeliveries(tx: Tx, { task_id, reason }: DeliveryRow): Promise<void> {
  await updateRows(tx, 'tasks', { id: task_id }, { webhook_url: null });
  await updateRows(
    tx,
    'webhook_deliveries',
    { task_id, status: 'pending' },
    { status: 'gone', reason, next_at: null },
  );
}

async function enqueueWakeUp(tx: Tx, { queue }: Context, taskId: string): Promise<void> {
  // Read again, because its user may have asked to send it now.
  const next = await findDelivery(tx, taskId);
  if (!next) return;
  const runAt = Date.parse(next.next_at as string);
  await queue.enqueue(tx, { kind: 'deliver-webhook', key: taskId, owner: next.user_id, runAt });
}
