import type { Selectable } from 'kysely';
import type { Context } from '../context.js';
import type { EventTable, TaskTable } from '../database/schema.js';
import { postWebhook } from '../generation/post-webhook.js';
import { eventOf, webhookBody } from '../generation/webhook-body.js';
import type { Work } from '../queue/queue.js';

const givenUpMs = 24 * 60 * 60_000;

// Decided: a task's changes are told in their order, each until a 2xx: with growing pauses for 24 h, Retry-After
// honoured; 410 ends it all.
/** Tells a task's webhook_url of each change of its status that it was not told of. */
export function deliverWebhook(context: Context): Work {
  return async ({ key: taskId }, signal) => {
    for (let next = await untold(context, taskId); next; next = await untold(context, taskId)) {
      if (context.now() - Date.parse(next.event.at) > givenUpMs) {
        await told(context, next);
        continue;
      }
      const pause = await tell(context, next, signal);
      if (pause === undefined) continue;
      await postpone(context, taskId, pause);
      return;
    }
  };
}

interface Untold {
  readonly task: Selectable<TaskTable> & { readonly webhook_url: string };
  readonly event: Pick<Selectable<EventTable>, 'id' | 'at'> & { readonly status: TaskTable['status'] };
}

async function untold({ database }: Context, taskId: string): Promise<Untold | undefined> {
  const row = await database
    .selectFrom('tasks')
    .innerJoin('events', 'events.subject_id', 'tasks.id')
    .selectAll('tasks')
    .select(['events.id as event_id', 'events.at as event_at', 'events.status as event_status'])
    .where('tasks.id', '=', taskId)
    .where('tasks.webhook_url', 'is not', null)
    .where('events.subject_kind', '=', 'task')
    // The answer to the request itself has told of the first; that a task waits is no news.
    .where('events.status', 'not in', ['CREATED', 'created', 'queueing'])
    .whereRef('events.id', '>', 'tasks.webhook_event')
    .orderBy('events.id')
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { event_id, event_at, event_status, ...task } = row;
  return {
    task: { ...task, webhook_url: task.webhook_url as string },
    event: { id: event_id, at: event_at, status: event_status as TaskTable['status'] },
  };
}

/** @returns milliseconds to wait, where the receiver asks for it */
async function tell(context: Context, next: Untold, signal: AbortSignal): Promise<number | undefined> {
  const { task, event } = next;
  const { status, retryAfter } = await postWebhook({
    url: task.webhook_url,
    // The same over retries, so that the receiver knows a repeat.
    headers: { 'webhook-id': `msg_${task.id}_${event.id}`, 'webhook-event': eventOf(task.operation) },
    body: await webhookBody(context, task, event.status),
    serviceOrigin: context.baseUrl(),
    signal,
  });
  if (status >= 200 && status < 300) await told(context, next);
  else if (status === 410) await stopTelling(context, task.id);
  else if (retryAfter !== undefined) return Math.min(retryAfter * 1000, givenUpMs);
  else throw new Error(`The webhook was answered with ${status}.`);
  return undefined;
}

async function told({ database }: Context, { task, event }: Untold): Promise<void> {
  await database
    .transaction()
    .execute((tx) =>
      tx.updateTable('tasks').set({ webhook_event: event.id }).where('id', '=', task.id).execute(),
    );
}

async function stopTelling({ database }: Context, taskId: string): Promise<void> {
  await database
    .transaction()
    .execute((tx) => tx.updateTable('tasks').set({ webhook_url: null }).where('id', '=', taskId).execute());
}

async function postpone({ database, queue, now }: Context, key: string, pause: number): Promise<void> {
  const job = { kind: 'deliver-webhook', key, runAt: now() + pause };
  await database.transaction().execute((tx) => queue.enqueue(tx, job));
}
