import { NetworkError, ServiceError } from '../../client/errors.js';
import { getOperation, getTaskFacts, listTaskOperations } from '../../contract/index.js';
import type { TaskFacts } from '../../contract/operation.js';
import type { Invocation } from '../command/invocation.js';
import type { Entry } from '../connect/ledger.js';
import type { Target } from '../connect/target.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { readTaskState, type Seen } from './task-state.js';

/** A task somewhere, whether it was started from here or not. */
export interface Task extends Pick<TaskFacts, 'kind' | 'noun' | 'read'> {
  readonly id: string;
  readonly target: Target;
  /** Absent for a task that was started elsewhere. */
  readonly entry?: Entry;
}

/** A task that is known by the operation that started it. */
export function taskStartedBy(operation: string, id: string, target: Target): Task {
  const { kind, noun, read } = getTaskFacts(operation);
  return { id, kind, noun, read, target };
}

/** What the ledger calls a service. */
export function serviceKey({ baseUrl }: Target): string {
  return baseUrl === undefined ? 'local' : new URL(baseUrl).href.replace(/\/$/, '');
}

/** Where an entry's task lives. The environment's tokens go along only where this run names that very service. */
export function targetOf(invocation: Invocation, { service }: Pick<Entry, 'service'>): Target {
  const { target } = invocation;
  if (serviceKey(target) === service) return target;
  if (service === 'local') return { name: service, source: 'ledger' };
  return { name: service, baseUrl: service, source: 'ledger' };
}

/** The entry with a local or remote id; where a service is named on the command line, of that service. */
export function entryOf(invocation: Invocation, id: string): Entry | undefined {
  const entry = invocation.ledger.find(id);
  const { target } = invocation;
  const typed = target.source === '--base-url' || target.source === '--profile';
  return entry && typed && entry.service !== serviceKey(target) ? undefined : entry;
}

/**
 * The task with a local or remote id.
 * @param starts operations that may have started a task that is not in the ledger; each way to read it is tried
 * @throws Failure where there is none
 */
export async function findTask(
  invocation: Invocation,
  id: string,
  starts: readonly string[] = listTaskOperations(),
): Promise<Task> {
  const entry = entryOf(invocation, id);
  if (entry) return taskOf(invocation, entry);
  const { target } = invocation;
  const tasks = starts.map((operation) => taskStartedBy(operation, id, target));
  const candidates = [...new Map(tasks.map((task) => [task.read, task])).values()];
  const [only, ...others] = candidates;
  if (only && others.length === 0) return only;
  for (const task of candidates) {
    try {
      await readTask(invocation, task);
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
export function taskOf(invocation: Invocation, entry: Entry): Task {
  const { task_id, operation, id } = entry;
  if (task_id !== undefined)
    return { ...taskStartedBy(operation, task_id, targetOf(invocation, entry)), entry };
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
  invocation: Invocation,
  { id, kind, read, target, entry }: Task,
): Promise<Seen> {
  const local = target.baseUrl === undefined;
  try {
    const { client } = await invocation.service(target);
    const input = { task_id: id };
    // The embedded service is better started again than asked again.
    const limits = { signal: invocation.signal, ...(local && { retries: 0 }) };
    const { data: answer } = await client.request(getOperation(read), input as never, limits);
    const seen = readTaskState(kind, answer);
    if (entry)
      invocation.ledger.change(entry.id, { state: seen.state, outputs: seen.outputs, ...seen.facts });
    return seen;
  } catch (error) {
    if (local && error instanceof NetworkError) invocation.lost();
    throw error;
  }
}
