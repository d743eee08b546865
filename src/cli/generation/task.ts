import { NetworkError, ServiceError } from '../../client/errors.js';
import type { Operation } from '../../contract/operation.js';
import { operationNamed } from '../commands/operation.js';
import { exitCodes, Failure } from '../failure.js';
import type { Invocation } from '../invocation.js';
import type { Entry } from '../ledger.js';
import type { Target } from '../target.js';
import { mediumOf, type Seen, seenIn } from './seen.js';

/** A task somewhere, whether it was started from here or not. */
export interface Task {
  readonly id: string;
  /** The operation that started it, such as `image.relight`. */
  readonly operation: string;
  readonly target: Target;
  /** Absent for a task that was started elsewhere. */
  readonly entry?: Entry;
}

/** What the names of `--kind` stand for. */
export const imageKinds: Readonly<Record<string, string>> = {
  relight: 'image.relight',
  upscaler: 'image.upscaler',
  'skin-enhancer': 'image.skinEnhancer',
  'style-transfer': 'image.styleTransfer',
};

/** Stands for every operation that starts a video: their tasks are read alike. */
export const anyVideo = 'video.text2video';

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
 * @param kinds operations that may have started a task that is not in the ledger; of several, each is tried
 * @throws Failure where there is none
 */
export async function findTask(
  invocation: Invocation,
  id: string,
  kinds: readonly string[] = [...Object.values(imageKinds), anyVideo],
): Promise<Task> {
  const entry = entryOf(invocation, id);
  if (entry) return taskOf(invocation, entry);
  const { target } = invocation;
  const [only, ...others] = kinds;
  if (only !== undefined && others.length === 0) return { id, operation: only, target };
  for (const operation of kinds) {
    try {
      await readTask(invocation, { id, operation, target });
      return { id, operation, target };
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
  if (task_id !== undefined) return { id: task_id, operation, target: targetOf(invocation, entry), entry };
  throw new Failure(`The request ${id} was never answered, so its task is not known.`, {
    code: 'unanswered',
    exit: exitCodes.notFound,
    hint: `Send it again, under the same idempotency key: regen task rerun ${id}`,
  });
}

/** The operation that reads the tasks which `operation` starts. */
export function readOperation(operation: string): Operation {
  const { task } = operationNamed(operation);
  if (!task) throw new Error(`${operation} starts no task.`);
  return operationNamed(task.read);
}

/** Reads a task once, and writes what was seen into the ledger. */
export async function readTask(
  invocation: Invocation,
  { id, operation, target, entry }: Task,
): Promise<Seen> {
  const local = target.baseUrl === undefined;
  try {
    const { client } = await invocation.service(target);
    const input = { task_id: id };
    // The embedded service is better started again than asked again.
    const limits = { signal: invocation.signal, ...(local && { retries: 0 }) };
    const { data: answer } = await client.request(readOperation(operation), input as never, limits);
    const seen = seenIn(operation, answer);
    if (entry)
      invocation.ledger.change(entry.id, { state: seen.state, outputs: seen.outputs, ...seen.facts });
    return seen;
  } catch (error) {
    if (local && error instanceof NetworkError) invocation.lost();
    throw error;
  }
}

/** `image.styleTransfer` for people: `style transfer`; of a video it matters little what it was made of. */
export function nounOf(operation: string): string {
  if (mediumOf(operation) === 'video') return 'video';
  return (operation.split('.').at(-1) ?? '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
