import { resolve } from 'node:path';
import type { z } from 'zod';
import type { Client } from '../../client/client.js';
import { NetworkError, ServiceError } from '../../client/errors.js';
import { getOperation, getTaskFacts, listTaskOperations, type OperationName } from '../../contract/index.js';
import type { TaskFacts } from '../../contract/operation.js';
import type { TaskAccount } from '../../contract/task.js';
import { FlowError, requireSubject } from '../flow-error.js';
import type { SigningService } from '../trust/verify-statement.js';
import { type Entry, type Ledger, serviceKey } from './ledger.js';
import { readTaskState, type TaskState } from './task-state.js';

/** A service that is used. */
export interface Target {
  /** A name for people: the profile or the address. */
  readonly name: string;
  /** The profile whose credentials are used; absent for an address and for the embedded service. */
  readonly profile?: string | undefined;
  /** Absent for the embedded service, which is found or started when it is needed. */
  readonly baseUrl?: string;
  /** Where it is set: a flag, a variable, the settings file, `ledger` or `default`. */
  readonly source: string;
  /** Set if only a lock file names the service, which may be another person's work. */
  readonly lock?: { readonly naming: string };
}

export interface TaskServices {
  readonly target: Target;
  /** Whether the target was named for this command, so that tasks of other services are not meant. */
  readonly isTargetGiven: boolean;
  /** `signer` verifies what the service says of results. */
  reach(target?: Target): Promise<{ readonly client: Client; readonly signer?: SigningService }>;
  /** Makes the next call of `reach` start the embedded service again if it has ended. */
  forgetEmbedded(): void;
}

export interface TaskContext {
  readonly services: TaskServices;
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

export function toStartedTask(operation: string, id: string, target: Target): Task {
  const { kind, noun, read } = getTaskFacts(operation);
  return { id, kind, noun, read, target };
}

/**
 * The service of an entry, with the account that started it. Tokens of the environment are used only if this command
 * names the same service.
 */
export function findTarget(
  { services }: Pick<TaskContext, 'services'>,
  { service, profile }: Pick<Entry, 'service' | 'profile'>,
): Target {
  const { target, isTargetGiven } = services;
  const isSameAccount = isTargetGiven || profile === undefined || profile === target.profile;
  if (serviceKey(target) === service && isSameAccount) return target;
  if (service === 'local') return { name: service, source: 'ledger' };
  return { name: profile ?? service, profile, baseUrl: service, source: 'ledger' };
}

const LAST = /^@last(?::(.*))?$/;
/** Shorter beginnings of ids are words that were meant as something else. */
const MIN_PREFIX_LENGTH = 4;

/**
 * Finds the entry that a person means: by its local or remote id, the beginning of one, `@last`, `@last:video`,
 * `@last:relight`, or the path of a file that it saved. A service that is named on the command line must match.
 * @throws FlowError if several entries match the beginning of an id, or none is the last one
 */
export function findEntry(
  { services, ledger }: Pick<TaskContext, 'services' | 'ledger'>,
  reference: string,
): Entry | undefined {
  const service = services.isTargetGiven ? serviceKey(services.target) : undefined;
  const isMeant = (entry: Entry) => service === undefined || entry.service === service;
  const exact = ledger.find(reference);
  if (exact) return isMeant(exact) ? exact : undefined;
  const last = LAST.exec(reference);
  if (last) return findLast(ledger, last[1], isMeant);
  const path = resolve(ledger.cwd, reference);
  const found: Entry[] = [];
  for (const entry of ledger.entries()) {
    if (!isMeant(entry)) continue;
    // The newest of those that saved to the same path has its results there.
    if (entry.saved?.includes(path)) return entry;
    if (startsWith(entry, reference)) found.push(entry);
  }
  if (found.length <= 1) return found[0];
  throw new FlowError(
    'ambiguous_task',
    `${found.length} tasks begin with ${reference}: ${found.slice(0, 3).map(formatId).join(', ')}${found.length > 3 ? ' and more' : ''}.`,
  );
}

function findLast(
  ledger: Ledger,
  kind: string | undefined,
  isMeant: (entry: Entry) => boolean,
): Entry | undefined {
  requireKind(kind, `@last:${kind}`);
  for (const entry of ledger.entries()) if (isMeant(entry) && isKind(entry, kind)) return entry;
  throw new FlowError('task_not_found', `No ${kind ? `${kind} ` : ''}task was started from here.`);
}

/** @throws FlowError if no task can be of this kind */
export function requireKind(kind: string | undefined, written: string): void {
  const operations = listTaskOperations();
  if (operations.some((operation) => isKind({ operation }, kind))) return;
  const names = operations.map((operation) => formatKind(operation));
  throw new FlowError(
    'usage',
    `'${written}' names no kind of task; the kinds are image, video, ${names.join(', ')}.`,
  );
}

function formatKind(operation: string): string {
  const [, name = ''] = operation.split('.');
  return name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
}

/** Whether an entry is of a kind: `image`, `video`, or an operation such as `relight` or `style-transfer`. */
export function isKind({ operation }: Pick<Entry, 'operation'>, kind: string | undefined): boolean {
  const [group, name = ''] = operation.split('.');
  return kind === undefined || kind === group || kind === name || kind === formatKind(operation);
}

function startsWith({ id, task_id }: Entry, prefix: string): boolean {
  return prefix.length >= MIN_PREFIX_LENGTH && (task_id?.startsWith(prefix) || id.startsWith(prefix));
}

function formatId({ id, task_id }: Entry): string {
  return task_id ?? id;
}

/**
 * Finds the task that a person means, in the ledger or by its remote id.
 * @param starts operations that may have started it if it is not in the ledger; their status operations are tried
 * @throws FlowError if there is none
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
  const message = /[/.]/.test(id)
    ? `No task that was started from here saved ${id}; only files where regen saved them stand for their task.`
    : `Task ${id} was not found, neither among those that were started from here nor on ${target.name}.`;
  throw new FlowError('task_not_found', message);
}

/** @throws FlowError if the request of the entry got no response */
export function toTask(context: Pick<TaskContext, 'services'>, entry: Entry): Task {
  const { task_id, operation, id } = entry;
  if (task_id !== undefined)
    return { ...toStartedTask(operation, task_id, findTarget(context, entry)), entry };
  throw new FlowError('unanswered', `The request ${id} got no response, so its task is unknown.`, {
    subject: id,
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
    // The embedded service is restarted instead of retried.
    const limits = { signal, ...(local && { retries: 0 }) };
    const { data, body } = await client.requestNamed(read as OperationName, { task_id: id }, limits);
    const seen = readTaskState(kind, data, body);
    requireSubject(client.baseUrl, id, seen.id || id);
    if (entry) await ledger.change(entry.id, { state: seen.state, outputs: seen.outputs, ...seen.facts });
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
    const account = await client.task.get({ task_id: id }, { signal });
    requireSubject(client.baseUrl, id, account.task_id);
    return account;
  } catch (error) {
    if (error instanceof ServiceError && [404, 405].includes(error.status)) return undefined;
    throw error;
  }
}
