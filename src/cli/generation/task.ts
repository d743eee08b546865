import type { z } from 'zod';
import { NetworkError, ServiceError } from '../../client/errors.js';
import { type ImageTask, imageTaskOf } from '../../contract/image-task.js';
import { getOperation, getTaskFacts, listTaskOperations } from '../../contract/index.js';
import type { TaskFacts, TaskKind } from '../../contract/operation.js';
import type { TaskAccount } from '../../contract/task.js';
import type { VideoCreations, VideoTask } from '../../contract/video.js';
import type { Entry, Ledger } from '../connect/ledger.js';
import type { ServiceConnector } from '../connect/services.js';
import type { Target } from '../connect/target.js';
import { exitCodes, Failure } from '../terminal/failure.js';

/** What reading a task takes. */
export interface TaskContext {
  readonly services: ServiceConnector;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
}

/** A task somewhere, whether it was started from here or not. */
export interface Task extends Pick<TaskFacts, 'kind' | 'noun' | 'read'> {
  readonly id: string;
  readonly target: Target;
  /** Absent for a task that was started elsewhere. */
  readonly entry?: Entry;
}

/** A task that is known by the operation that started it. */
export function toStartedTask(operation: string, id: string, target: Target): Task {
  const { kind, noun, read } = getTaskFacts(operation);
  return { id, kind, noun, read, target };
}

/** What the ledger calls a service. */
export function serviceKey({ baseUrl }: Target): string {
  return baseUrl === undefined ? 'local' : new URL(baseUrl).href.replace(/\/$/, '');
}

/** Where an entry's task lives. The environment's tokens go along only where this run names that very service. */
export function findTarget(
  { services }: Pick<TaskContext, 'services'>,
  { service }: Pick<Entry, 'service'>,
): Target {
  const { target } = services;
  if (serviceKey(target) === service) return target;
  if (service === 'local') return { name: service, source: 'ledger' };
  return { name: service, baseUrl: service, source: 'ledger' };
}

/** The entry with a local or remote id; where a service is named on the command line, of that service. */
export function findEntry(
  { services, ledger }: Pick<TaskContext, 'services' | 'ledger'>,
  id: string,
): Entry | undefined {
  const entry = ledger.find(id);
  const { target } = services;
  const typed = target.source === '--base-url' || target.source === '--profile';
  return entry && typed && entry.service !== serviceKey(target) ? undefined : entry;
}

/**
 * The task with a local or remote id.
 * @param starts operations that may have started a task that is not in the ledger; each way to read it is tried
 * @throws Failure where there is none
 */
export async function findTask(
  context: TaskContext,
  id: string,
  starts: readonly string[] = listTaskOperations(),
): Promise<Task> {
  const entry = findEntry(context, id);
  if (entry) return toTask(context, entry);
  const { target } = context.services;
  const tasks = starts.map((operation) => toStartedTask(operation, id, target));
  const candidates = [...new Map(tasks.map((task) => [task.read, task])).values()];
  const [only, ...others] = candidates;
  if (only && others.length === 0) return only;
  for (const task of candidates) {
    try {
      await readTask(context, task);
      return task;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    }
  }
  throw new Failure(`There is no task ${id}, neither in the ledger nor on ${target.name}.`, {
    code: 'not_found',
    exit: exitCodes.notFound,
    hint: 'See what was started from here: regen task list',
  });
}

/** @throws Failure where the entry's request was never answered */
export function toTask(context: Pick<TaskContext, 'services'>, entry: Entry): Task {
  const { task_id, operation, id } = entry;
  if (task_id !== undefined)
    return { ...toStartedTask(operation, task_id, findTarget(context, entry)), entry };
  throw new Failure(`The request ${id} was never answered, so its task is not known.`, {
    code: 'unanswered',
    exit: exitCodes.notFound,
    hint: `Send it again, under the same idempotency key: regen task rerun ${id}`,
  });
}

/** Whether a service has no way to tell the status of such a task. */
export function cannotRead(error: unknown, { read }: Task): boolean {
  return (
    error instanceof ServiceError &&
    [404, 405].includes(error.status) &&
    getOperation(read).extension !== undefined
  );
}

/** Reads a task once, and writes what was seen into the ledger. */
export async function readTask(
  { services, ledger, signal }: TaskContext,
  { id, kind, read, target, entry }: Task,
): Promise<TaskState> {
  const local = target.baseUrl === undefined;
  try {
    const { client } = await services.reach(target);
    const input = { task_id: id };
    // The embedded service is better started again than asked again.
    const limits = { signal, ...(local && { retries: 0 }) };
    const { data: answer } = await client.request(getOperation(read), input as never, limits);
    const seen = readTaskState(kind, answer);
    if (entry) ledger.change(entry.id, { state: seen.state, outputs: seen.outputs, ...seen.facts });
    return seen;
  } catch (error) {
    if (local && error instanceof NetworkError) services.forgetEmbedded();
    throw error;
  }
}

type Account = z.output<typeof TaskAccount>;

/** What a task cost, its seed, and why it failed; undefined where the service does not say. */
export async function readAccount(
  { services, signal }: Pick<TaskContext, 'services' | 'signal'>,
  { id, target }: Task,
): Promise<Account | undefined> {
  const { client } = await services.reach(target);
  try {
    const { data } = await client.request(getOperation('task.get'), { task_id: id } as never, { signal });
    return data as Account;
  } catch (error) {
    if (error instanceof ServiceError && [404, 405].includes(error.status)) return undefined;
    throw error;
  }
}

/** What an answer tells of a task, of an image or a video alike. */
export interface TaskState {
  /** As it came. */
  readonly answer: unknown;
  /** The task's. */
  readonly id: string;
  /** In the service's own word: `IN_PROGRESS`, `queueing`. */
  readonly state: string;
  /** URLs of what it made. */
  readonly outputs: readonly string[];
  /** Why it failed, where the service says so. */
  readonly reason?: string;
  /** The ledger keeps them. */
  readonly facts: TaskFigures;
}

/** What some answers tell beside a task's state. */
export interface TaskFigures {
  readonly credits?: number;
  readonly seed?: number;
}

/** The id and state of the task in an answer to its start, or to a look at it. */
export function readTaskState(kind: TaskKind, answer: unknown): TaskState {
  if (kind === 'image') {
    const task = imageTaskOf(answer as ImageTask);
    return { answer, id: task.task_id, state: task.status, outputs: task.generated, facts: factsIn(task) };
  }
  const task = answer as VideoAnswer;
  // Decided: a video's cover is no output of its own; `--json` shows it.
  const outputs = (task.creations ?? []).flatMap(({ url }) => url ?? []);
  const reason = task.err_code;
  const id = task.task_id ?? task.id ?? '';
  return { answer, id, state: task.state, outputs, facts: factsIn(task), ...(reason && { reason }) };
}

type VideoAnswer = Pick<z.infer<typeof VideoTask>, 'state'> &
  Partial<z.infer<typeof VideoTask>> &
  Partial<z.infer<typeof VideoCreations>>;

// No field of an image task, but some services tell them.
function factsIn(task: object): TaskFigures {
  const { credits, seed } = task as TaskFigures;
  return { ...(credits !== undefined && { credits }), ...(seed !== undefined && { seed }) };
}

const ends: Readonly<Record<string, 'well' | 'badly'>> = {
  COMPLETED: 'well',
  FAILED: 'badly',
  success: 'well',
  failed: 'badly',
  // Decided: our own word for a task that its service knows nothing of any more.
  GONE: 'badly',
};

/** How a task in a state has ended. Decided: in any other state it is running. */
export function findEnd(state = ''): 'well' | 'badly' | undefined {
  return Object.hasOwn(ends, state) ? ends[state] : undefined;
}
