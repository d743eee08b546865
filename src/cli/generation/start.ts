import { setTimeout as pause } from 'node:timers/promises';
import { ClientError, NetworkError, ServiceError } from '../../client/errors.js';
import { getOperation, getTaskFacts } from '../../contract/index.js';
import { backoffMs } from '../../wire/backoff.js';
import { type Entry, type EntryChoice, isImageReference } from '../connect/ledger.js';
import type { Target } from '../connect/target.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import { loadImages } from './images.js';
import type { Job } from './plan.js';
import {
  cannotRead,
  findEnd,
  findTask,
  readTask,
  readTaskState,
  serviceKey,
  type Task,
  type TaskContext,
  type TaskState,
  toStartedTask,
  toTask,
} from './task.js';

/** A task whose start was answered. */
export interface Started {
  readonly task: Task;
  /** What the start was answered; of a task that an earlier run started, what it was just now. */
  readonly seen: TaskState;
}

/** Where a job goes, and what is told of it on the way. */
export interface StartContext extends TaskContext {
  readonly system: Pick<System, 'stdin'>;
  readonly output: Output;
  readonly target: Target;
  say(text: string): Promise<void>;
}

/** How a job is written into the ledger. */
export interface StartOptions {
  readonly choice: EntryChoice;
  /** Where its results are to be saved, if that is known. */
  readonly output?: string | undefined;
  /** Whether it is a job of a batch. */
  readonly batch?: true;
  /** Told the local id before the request is sent. */
  onEntry?(id: string): void;
}

/** Starts a task. The ledger knows of it before the service does. */
export async function startTask(context: StartContext, job: Job, options: StartOptions): Promise<Started> {
  const { ledger, target } = context;
  const { sent, kept } = await loadImages(job.images, getTaskFacts(job.operation).kind, context.system);
  const made = job.fromTask === undefined ? {} : await findCreation(context, job.fromTask);
  const request = { ...job.body, ...made, ...kept };
  const { output, batch } = options;
  const draft = {
    service: serviceKey(target),
    operation: job.operation,
    request,
    name: job.name,
    ...(output !== undefined && { output }),
    ...(batch && { batch }),
  };
  let opened = await ledger.open(draft, options.choice);
  options.onEntry?.(opened.entry.id);
  while (opened.entry.task_id !== undefined) {
    const resumed = await resumeTask(context, opened.entry);
    if (resumed) return resumed;
    opened = await ledger.open(draft, options.choice);
    options.onEntry?.(opened.entry.id);
  }
  const { entry, repeats, stale } = opened;
  if (repeats)
    await context.say(`Sending again what an earlier run sent and was not answered (${entry.id}).`);
  if (stale) {
    await context.output.warn(
      `The same was sent at ${stale.created_at} and never answered (${stale.id}); this is a new task.`,
    );
  }
  // The same key takes the same body only.
  const same = repeats && 'video_url' in request && { video_url: entry.request.video_url };
  const body = { ...job.body, ...made, ...same, ...sent };
  try {
    const answer = await sendStart(context, job.operation, body, entry.idempotency_key);
    const seen = readTaskState(getTaskFacts(job.operation).kind, answer);
    const { id } = seen;
    ledger.change(entry.id, { task_id: id, state: seen.state, outputs: seen.outputs, ...seen.facts });
    return {
      seen,
      task: { ...toStartedTask(job.operation, id, target), entry: ledger.read(entry.id) ?? entry },
    };
  } catch (error) {
    if (isRefusal(error)) ledger.remove(entry.id);
    throw error;
  }
}

/**
 * Goes on with a task that an earlier run started, finished or not.
 * @returns undefined where its service knows nothing of it any more
 */
async function resumeTask(context: StartContext, entry: Entry): Promise<Started | undefined> {
  const { ledger, say } = context;
  const task = toTask(context, entry);
  try {
    const seen = await readTask(context, task);
    await say(`Resuming task ${task.id} of an interrupted run; pass --again to start a new one.`);
    return { task, seen };
  } catch (error) {
    if (cannotRead(error, task))
      return { task, seen: { answer: {}, id: task.id, state: '', outputs: [], facts: {} } };
    if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    ledger.change(entry.id, { state: 'GONE' });
    return undefined;
  }
}

const MAX_TRIES = 5;
const MAX_PAUSE_MS = 10_000;

// Decided: a start whose answer was lost is sent again at once only to the embedded service, which is known to honour
// the key; elsewhere the person decides, by running the command again.
async function sendStart(
  { services, target, signal }: StartContext,
  name: string,
  body: object,
  idempotencyKey: string,
) {
  const operation = getOperation(name);
  for (let attempt = 1; ; attempt++) {
    try {
      const { client } = await services.reach(target);
      return (await client.request(operation, { body } as never, { idempotencyKey, signal })).data;
    } catch (error) {
      signal.throwIfAborted();
      if (attempt === MAX_TRIES || !mayRepeat(error, target)) throw error;
      if (error instanceof NetworkError) services.forgetEmbedded();
      const asked = error instanceof ServiceError ? error.retryAfterMs : undefined;
      const pauseMs = asked ?? backoffMs(attempt, { firstMs: 300, maxMs: 2_000 });
      await pause(Math.min(pauseMs, MAX_PAUSE_MS), undefined, { signal });
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
export function toReadable(request: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(request).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(describeValue) : describeValue(value),
  ]);
  return Object.fromEntries(entries);
}

function describeValue(value: unknown): unknown {
  if (!isImageReference(value)) return value;
  return `<Base64 of ${value.file ?? 'the image given'}, ${value.bytes} bytes>`;
}

/** What `--from-task` gives to a request. */
export interface Creation {
  readonly video_creation_id: string;
  readonly video_url: string;
}

/** Stands for a creation that was not looked up: it says to a person what will be there. */
export function formatCreation(id: string): Creation {
  return { video_creation_id: `<creation of task ${id}>`, video_url: `<video of task ${id}>` };
}

/**
 * The video that a task made.
 * @throws Failure where it made none, or none yet
 */
async function findCreation(context: TaskContext, id: string): Promise<Creation> {
  const task = await findTask(context, id);
  const seen = await readTask(context, task);
  const { creations } = seen.answer as { creations?: { id: string; url: string }[] };
  const [first] = creations ?? [];
  if (first) return { video_creation_id: first.id, video_url: first.url };
  throw nothingToExtend(task, seen.state);
}

function nothingToExtend({ id }: Task, state: string): Failure {
  const over = findEnd(state) !== undefined;
  return new Failure(`Task ${id} has no video to extend: it is ${state}.`, {
    code: over ? 'nothing_to_extend' : 'still_running',
    exit: over ? exitCodes.endedBadly : exitCodes.stillGoing,
    ...(!over && { hint: `Wait for it with: regen task wait ${id}` }),
  });
}
