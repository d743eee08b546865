import type { z } from 'zod';
import { NetworkError, ServiceError } from '../../client/errors.js';
import { type ImageTask, unwrapImageTask } from '../../contract/image-task.js';
import { getOperation, getTaskFacts, listTaskOperations } from '../../contract/index.js';
import type { TaskFacts, TaskKind } from '../../contract/operation.js';
import type { TaskAccount } from '../../contract/task.js';
import type { VideoCreations, VideoTask } from '../../contract/video.js';
import type { Entry, Ledger } from '../connect/ledger.js';
import type { ServiceConnector } from '../connect/services.js';
import type { Target } from '../connect/target.js';
import { exitCodes, Failure } from '../terminal/failure.js';

/** What is needed to read a task. */
export interface TaskContext {
  readonly services: ServiceConnector;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
}

/** A task on a service, started from here or elsewhere. */
export interface Task extends Pick<TaskFacts, 'kind' | 'noun' | 'read'> {
  readonly id: string;
  readonly target: Target;
  /** Absent for a task that was started elsewhere. */
  readonly entry?: Entry;
}

/** Makes a task from the operation that started it. */
export function toStartedTask(operation: string, id: string, target: Target): Task {
  const { kind, noun, read } = getTaskFacts(operation);
  return { id, kind, noun, read, target };
}

/** The name of a service in the ledger. */
export function serviceKey({ baseUrl }: Target): string {
  return baseUrl === undefined ? 'local' : new URL(baseUrl).href.replace(/\/$/, '');
}

/** The service of an entry. Tokens of the environment are used only if this command names the same service. */
export function findTarget(
  { services }: Pick<TaskContext, 'services'>,
  { service }: Pick<Entry, 'service'>,
): Target {
  const { target } = services;
  if (serviceKey(target) === service) return target;
  if (service === 'local') return { name: service, source: 'ledger' };
  return { name: service, baseUrl: service, source: 'ledger' };
}

/** Finds an entry by its local or remote id. A service that is named on the command line must match. */
export function findEntry(
  { services, ledger }: Pick<TaskContext, 'services' | 'ledger'>,
  id: string,
): Entry | undefined {
  const entry = ledger.find(id);
  const { target } = services;
  const isTyped = target.source === '--base-url' || target.source === '--profile';
  return entry && isTyped && entry.service !== serviceKey(target) ? undefined : entry;
}

/**
 * Finds a task by its local or remote id.
 * @param starts operations that may have started it if it is not in the ledger; their status operations are tried
 * @throws Failure if there is none
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
  throw new Failure(`Task ${id} was not found, neither in the ledger nor on ${target.name}.`, {
    code: 'not_found',
    exit: exitCodes.notFound,
    hint: 'List the tasks that were started from here with: regen task list',
  });
}

/** @throws Failure if the request of the entry got no response */
export function toTask(context: Pick<TaskContext, 'services'>, entry: Entry): Task {
  const { task_id, operation, id } = entry;
  if (task_id !== undefined)
    return { ...toStartedTask(operation, task_id, findTarget(context, entry)), entry };
  throw new Failure(`The request ${id} got no response, so its task is unknown.`, {
    code: 'unanswered',
    exit: exitCodes.notFound,
    hint: `Repeat it with the same idempotency key: regen task rerun ${id}`,
  });
}

/** Whether the error means that the service cannot report the status of such a task. */
export function cannotRead(error: unknown, { read }: Task): boolean {
  return (
    error instanceof ServiceError &&
    [404, 405].includes(error.status) &&
    getOperation(read).extension !== undefined
  );
}

/** Reads a task once, and records its state in the ledger. */
export async function readTask(
  { services, ledger, signal }: TaskContext,
  { id, kind, read, target, entry }: Task,
): Promise<TaskState> {
  const local = target.baseUrl === undefined;
  try {
    const { client } = await services.reach(target);
    const input = { task_id: id };
    // The embedded service is restarted instead of retried.
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

/** The cost and seed of a task, and why it failed; undefined if the service does not report them. */
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

/** The state of an image or video task in a response. */
export interface TaskState {
  /** The unchanged response. */
  readonly answer: unknown;
  /** The id of the task. */
  readonly id: string;
  /** In the service's words: `IN_PROGRESS`, `queueing`. */
  readonly state: string;
  /** The URLs of its results. */
  readonly outputs: readonly string[];
  /** Why it failed, if the service says so. */
  readonly reason?: string;
  /** Recorded in the ledger. */
  readonly facts: TaskFigures;
}

/** What some services report in addition to the state. */
export interface TaskFigures {
  readonly credits?: number;
  readonly seed?: number;
}

/** Reads the id and state of a task from the response to its start or to a poll. */
export function readTaskState(kind: TaskKind, answer: unknown): TaskState {
  if (kind === 'image') {
    const task = unwrapImageTask(answer as ImageTask);
    return {
      answer,
      id: task.task_id,
      state: task.status,
      outputs: task.generated,
      facts: readFigures(task),
    };
  }
  const task = answer as VideoAnswer;
  // Decided: the cover of a video is not an output; `--json` shows it.
  const outputs = (task.creations ?? []).flatMap(({ url }) => url ?? []);
  const reason = task.err_code;
  const id = task.task_id ?? task.id ?? '';
  return { answer, id, state: task.state, outputs, facts: readFigures(task), ...(reason && { reason }) };
}

type VideoAnswer = Pick<z.infer<typeof VideoTask>, 'state'> &
  Partial<z.infer<typeof VideoTask>> &
  Partial<z.infer<typeof VideoCreations>>;

// The contract has no such fields for image tasks, but some services send them.
function readFigures(task: object): TaskFigures {
  const { credits, seed } = task as TaskFigures;
  return { ...(credits !== undefined && { credits }), ...(seed !== undefined && { seed }) };
}

const ENDS: Readonly<Record<string, 'well' | 'badly'>> = {
  COMPLETED: 'well',
  FAILED: 'badly',
  success: 'well',
  failed: 'badly',
  // Decided: our own word for a task that its service no longer has.
  GONE: 'badly',
};

/** How a task has ended. Decided: any unknown state is running. */
export function findEnd(state = ''): 'well' | 'badly' | undefined {
  return Object.hasOwn(ENDS, state) ? ENDS[state] : undefined;
}
