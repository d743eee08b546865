import type { z } from 'zod';
import { ClientError, NetworkError, ServiceError } from '../../client/errors.js';
import { getWebhookEvent } from '../../contract/events.js';
import { type ImageTask, unwrapImageTask } from '../../contract/image-task.js';
import { listTaskOperations } from '../../contract/index.js';
import type { WebhookDelivery } from '../../contract/webhook.js';
import { findTask, readTask, type Task, type TaskContext } from '../../flows/tasks/task.js';
import type { TaskState } from '../../flows/tasks/task-state.js';
import { createWebhookHeaders } from '../../wire/webhook-signature.js';
import type { Output } from '../terminal/output.js';
import type { Inbox } from './inbox.js';
import type { SecretsInUse } from './secrets.js';

type Delivery = z.output<typeof WebhookDelivery>;

export interface CatchUpContext extends TaskContext {
  readonly output: Output;
  readonly now: () => number;
  readonly inbox: Inbox;
  readonly secrets: SecretsInUse;
  /** The URL of this listener in the requests of tasks. */
  readonly address: string;
}

/**
 * Handles the webhooks that the service could not deliver to this address: once for each task, in its current state.
 * @param taskId a task whose webhooks are all included, to any address
 */
export async function catchUp(context: CatchUpContext, taskId?: string): Promise<void> {
  const { address, output, signal } = context;
  const log = await readDeliveries(context);
  if (!log) return;
  const own = log.filter(({ url, task_id }) => task_id === taskId || isSame(url, address));
  const missed = new Set(own.filter(wasMissed).map(({ task_id }) => task_id));
  // Oldest first, the order of delivery.
  for (const id of [...missed].reverse()) {
    try {
      const event = own.find(({ task_id }) => task_id === id)?.event;
      const kind = event === getWebhookEvent('video') ? 'video' : 'image';
      const task = await findTask(context, id, listTaskOperations(kind));
      await deliverState(context, task, await readTask(context, task), own);
    } catch (error) {
      signal.throwIfAborted();
      await output.warn(`Could not read the missed webhooks of task ${id}: ${(error as Error).message}`);
    }
  }
}

/** Passes the current state of a task to the inbox, in place of the webhooks in the log. */
export async function deliverState(
  { inbox, secrets, now }: Pick<CatchUpContext, 'inbox' | 'secrets' | 'now'>,
  task: Task,
  seen: TaskState,
  log: readonly Delivery[],
): ReturnType<Inbox['take']> {
  const ofTask = log.filter(({ task_id }) => task_id === task.id);
  const at = Math.max(
    0,
    ofTask.findIndex(({ state }) => state === seen.state),
  );
  // The log is newest first, so the rest is older.
  const [id = `task_${task.id}_${seen.state}`, ...replaces] = ofTask.slice(at).map((delivery) => delivery.id);
  const name = getWebhookEvent(task.kind);
  const payload = task.kind === 'image' ? unwrapImageTask(seen.answer as ImageTask) : seen.answer;
  const body = Buffer.from(JSON.stringify(payload));
  const headers = createWebhookHeaders(secrets.current.signing, { id, body, event: name, now: now() });
  return inbox.take({ id, name, taskId: task.id, seen, body, headers, caughtUp: true, replaces });
}

/** Reads the delivery log, newest first; undefined if the service has none. */
export async function readDeliveries(
  { services, signal, output }: Pick<CatchUpContext, 'services' | 'signal' | 'output'>,
  taskId?: string,
): Promise<Delivery[] | undefined> {
  try {
    const { client } = await services.reach();
    const query = taskId === undefined ? {} : { task_id: taskId };
    return await client.webhook.deliveries(query, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ServiceError && [404, 405].includes(error.status)) return undefined;
    if (!(error instanceof ClientError)) throw error;
    // The embedded service may have stopped; the next request starts it again.
    if (error instanceof NetworkError) services.forgetEmbedded();
    await output.warn(`Could not read the delivery log: ${error.message}`);
    return undefined;
  }
}

/** A delivery that was not attempted yet will still arrive. */
function wasMissed({ status, attempts }: Delivery): boolean {
  return status === 'failed' || (status === 'pending' && attempts > 0);
}

function isSame(url: string, address: string): boolean {
  return URL.canParse(url) && new URL(url).href === new URL(address).href;
}
