import { setTimeout as pause } from 'node:timers/promises';
import { ClientError, NetworkError, ServiceError } from '../../client/errors.js';
import { operationNamed } from '../commands/operation.js';
import type { Invocation } from '../invocation.js';
import { isImageReference, type Ledger } from '../ledger.js';
import type { Target } from '../target.js';
import { creationOf } from './from-task.js';
import { loadAll } from './images.js';
import type { Job } from './plan.js';
import { type Seen, seenIn } from './seen.js';
import { serviceKey, type Task } from './task.js';

/** A task whose start was answered. */
export interface Started {
  readonly task: Task;
  /** What the start was answered. */
  readonly seen: Seen;
}

/** Where a job goes, and what is told of it on the way. */
export interface Desk {
  readonly invocation: Invocation;
  readonly ledger: Ledger;
  readonly target: Target;
  say(text: string): Promise<void>;
}

/** What whoever keeps count of a job besides the ledger knows of it, and wants to know. */
export interface Known {
  /** The local id of the entry that was made for it before. */
  readonly entry?: string | undefined;
  /** Told the local id before the request is sent. */
  onEntry?(id: string): void;
}

/** Starts a task. The ledger knows of it before the service does. */
export async function start(desk: Desk, job: Job, known: Known = {}): Promise<Started> {
  const { invocation, ledger, target } = desk;
  const { sent, kept } = await loadAll(job.images, job.operation, invocation.system);
  const made = job.fromTask === undefined ? {} : await creationOf(invocation, job.fromTask);
  const request = { ...job.body, ...made, ...kept };
  const draft = { service: serviceKey(target), operation: job.operation, request, name: job.name };
  const { entry, repeats, stale } = ledger.open(draft, known.entry);
  known.onEntry?.(entry.id);
  if (repeats) await desk.say(`Asking again for what was asked before and never answered (${entry.id}).`);
  if (stale) {
    await invocation.output.warn(
      `The same was asked for at ${stale.created_at} and never answered (${stale.id}); this is a new task.`,
    );
  }
  // The same key takes the same body only.
  const same = repeats && 'video_url' in request && { video_url: entry.request.video_url };
  const body = { ...job.body, ...made, ...same, ...sent };
  try {
    const answer = await send(desk, job.operation, body, entry.idempotency_key);
    const id = operationNamed(job.operation).task?.id(answer as never) as string;
    const seen = seenIn(job.operation, answer);
    ledger.change(entry.id, { task_id: id, state: seen.state, outputs: seen.outputs, ...seen.facts });
    return { seen, task: { id, operation: job.operation, target, entry: ledger.read(entry.id) ?? entry } };
  } catch (error) {
    if (isRefusal(error)) ledger.remove(entry.id);
    throw error;
  }
}

const mostTries = 5;

// Decided: a start whose answer was lost is sent again at once only to the embedded service, which is known to honour
// the key; elsewhere the person decides, by running the command again.
async function send({ invocation, target }: Desk, name: string, body: object, idempotencyKey: string) {
  const operation = operationNamed(name);
  const { signal } = invocation;
  for (let attempt = 1; ; attempt++) {
    try {
      const { client } = await invocation.service(target);
      return (await client.request(operation, { body } as never, { idempotencyKey, signal })).data;
    } catch (error) {
      signal.throwIfAborted();
      if (attempt === mostTries || !mayRepeat(error, target)) throw error;
      if (error instanceof NetworkError) invocation.lost();
      await pause(300 * attempt, undefined, { signal });
    }
  }
}

function mayRepeat(error: unknown, target: Target): boolean {
  // The service is still at work on what an earlier run of this command asked for.
  if (error instanceof ServiceError) return error.code === 'idempotency_in_flight';
  return error instanceof NetworkError && target.baseUrl === undefined;
}

/** Whether the service has surely not begun a task: it said so, or nothing reached it. */
function isRefusal(error: unknown): boolean {
  if (error instanceof NetworkError) return error.sent === false;
  if (error instanceof ServiceError) return error.status < 500 && ![408, 409, 429].includes(error.status);
  // Any other failure of the client's came before the request; everything else is open.
  return error instanceof ClientError && error.code === 'invalid_request';
}

/** A body as a person may read it: in place of an image, what it is. */
export function readable(request: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(request).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(described) : described(value),
  ]);
  return Object.fromEntries(entries);
}

function described(value: unknown): unknown {
  if (!isImageReference(value)) return value;
  return `<Base64 of ${value.file ?? 'the image given'}, ${value.bytes} bytes>`;
}
