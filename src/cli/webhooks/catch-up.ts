import type { z } from 'zod';
import { ClientError, NetworkError, ServiceError } from '../../client/errors.js';
import { webhookEventOf, webhookHeaders } from '../../contract/events.js';
import { type ImageTask, imageTaskOf } from '../../contract/image-task.js';
import { listTaskOperations } from '../../contract/index.js';
import type { WebhookDelivery } from '../../contract/webhook.js';
import { signWebhook } from '../../wire/webhook-signature.js';
import type { Invocation } from '../command/invocation.js';
import { findTask, readTask, type Task } from '../generation/task.js';
import type { Seen } from '../generation/task-state.js';
import type { Event } from './event.js';
import type { Inbox } from './inbox.js';
import type { SecretsInUse } from './secrets.js';

type Delivery = z.output<typeof WebhookDelivery>;

export interface CatchUpParts {
  readonly invocation: Invocation;
  readonly inbox: Inbox;
  readonly secrets: SecretsInUse;
  /** What tasks were given to tell this listener. */
  readonly address: string;
}

/**
 * Deals with what the service tried in vain to tell this address: each task as it is now, once.
 * @param taskId whose webhooks count wherever they were told
 */
export async function catchUp(parts: CatchUpParts, taskId?: string): Promise<void> {
  const { invocation, address } = parts;
  const log = await deliveries(invocation);
  if (!log) return;
  const own = log.filter(({ url, task_id }) => task_id === taskId || isSame(url, address));
  const missed = new Set(own.filter(wasMissed).map(({ task_id }) => task_id));
  // Oldest first, as they would have come.
  for (const id of [...missed].reverse()) {
    try {
      const event = own.find(({ task_id }) => task_id === id)?.event;
      const kind = event === webhookEventOf('video') ? 'video' : 'image';
      const task = await findTask(invocation, id, listTaskOperations(kind));
      await tell(parts, task, await readTask(invocation, task), own);
    } catch (error) {
      invocation.signal.throwIfAborted();
      await invocation.output.warn(`What was missed of ${id} cannot be read: ${(error as Error).message}`);
    }
  }
}

/** Tells of a task what was read, in place of the webhooks that the log has of it. */
export async function tell(
  { inbox, secrets }: Pick<CatchUpParts, 'inbox' | 'secrets'>,
  task: Task,
  seen: Seen,
  log: readonly Delivery[],
): ReturnType<Inbox['take']> {
  const ofTask = log.filter(({ task_id }) => task_id === task.id);
  const at = Math.max(
    0,
    ofTask.findIndex(({ state }) => state === seen.state),
  );
  // The log is newest first: what follows came before.
  const [id = `task_${task.id}_${seen.state}`, ...replaces] = ofTask.slice(at).map((delivery) => delivery.id);
  return inbox.take(eventOf({ task, seen, id, replaces }, secrets));
}

interface Read {
  readonly task: Task;
  readonly seen: Seen;
  readonly id: string;
  readonly replaces: readonly string[];
}

/** The event as the service would send it now. */
function eventOf({ task, seen, id, replaces }: Read, secrets: SecretsInUse): Event {
  const name = webhookEventOf(task.kind);
  const told = task.kind === 'image' ? imageTaskOf(seen.answer as ImageTask) : seen.answer;
  const body = Buffer.from(JSON.stringify(told));
  const timestamp = String(Math.floor(secrets.invocation.system.now() / 1000));
  const headers = {
    'content-type': 'application/json',
    [webhookHeaders.id]: id,
    [webhookHeaders.timestamp]: timestamp,
    [webhookHeaders.signature]: signWebhook(secrets.all[0] as string, { id, timestamp, body }),
    [webhookHeaders.event]: name,
  };
  return { id, name, taskId: task.id, seen, body, headers, caughtUp: true, replaces };
}

/** The delivery log, newest first; undefined where this service has none. */
export async function deliveries(invocation: Invocation, taskId?: string): Promise<Delivery[] | undefined> {
  try {
    const { client } = await invocation.service();
    const query = taskId === undefined ? {} : { task_id: taskId };
    return await client.webhook.deliveries(query, { signal: invocation.signal });
  } catch (error) {
    invocation.signal.throwIfAborted();
    if (error instanceof ServiceError && [404, 405].includes(error.status)) return undefined;
    if (!(error instanceof ClientError)) throw error;
    // The embedded service may have ended meanwhile; the next one who asks starts it again.
    if (error instanceof NetworkError) invocation.lost();
    await invocation.output.warn(`What was missed is not known: ${error.message}`);
    return undefined;
  }
}

/** What was not tried yet is on its way. */
function wasMissed({ status, attempts }: Delivery): boolean {
  return status === 'failed' || (status === 'pending' && attempts > 0);
}

function isSame(url: string, address: string): boolean {
  return URL.canParse(url) && new URL(url).href === new URL(address).href;
}
