import { requireInput } from '../client/require-input.js';
import { wait } from '../client/wait.js';
import { getTaskFacts, listTaskOperations } from '../contract/index.js';
import { isRecord } from '../contract/json.js';
import type { TaskKind } from '../contract/operation.js';
import { FlowError } from '../flows/flow-error.js';
import type { Saved } from '../flows/save-file.js';
import { Destination } from '../flows/tasks/destination.js';
import { encodeImage } from '../flows/tasks/start-task.js';
import { findEnd, readTaskState, type TaskState } from '../flows/tasks/task-state.js';
import type { ImageField, OperationName, TaskBodies } from './api.generated.js';
import type { Client } from './client.js';

type WithBytes<Value> = Value extends string
  ? string | Uint8Array
  : Value extends string[]
    ? (string | Uint8Array)[]
    : Value;

type JobBody<Body> = {
  [Field in keyof Body]: Field extends ImageField ? WithBytes<Body[Field]> : Body[Field];
};

/** An image or video to generate: the body of the operation, in which images may also be the bytes of files. */
export type Job = {
  [Name in keyof TaskBodies]: { readonly operation: Name; readonly body: JobBody<TaskBodies[Name]> };
}[keyof TaskBodies];

export interface RunOptions {
  readonly client: Client;
  /** Where to save the results: a file, a folder, or a path with `{name}`, `{task_id}`, `{index}` and `{ext}`. */
  readonly output: string;
  /** Whether existing files may be replaced. Default false: the task does not start if a file is in the way. */
  readonly force?: boolean;
  /** How long to wait until the task has ended. Default 30 minutes. */
  readonly timeoutMs?: number;
  /** The same key starts the same task only once, and saves its results only once. Default: a random key. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** Called with each status that is read. */
  readonly onStatus?: (status: string) => void;
}

export interface FinishedTask {
  readonly taskId: string;
  /** The saved results. */
  readonly files: readonly Saved[];
}

/**
 * Starts a task, waits until it has ended, and saves its results.
 * @throws FlowError `task_failed` if it failed, StillRunningError after `timeoutMs`, InvalidRequestError for wrong input,
 * or another ClientError
 */
export async function run(job: Job, options: RunOptions): Promise<FinishedTask> {
  const { operation, body } = job ?? {};
  const { client, output, force = false, idempotencyKey, onStatus } = options ?? {};
  const names: readonly string[] = listTaskOperations();
  requireInput({
    operation: !names.includes(operation) && `must be one of ${names.join(', ')}`,
    body: !isRecord(body) && 'must be an object',
    client: typeof client?.requestNamed !== 'function' && 'must be a client',
    output: (typeof output !== 'string' || output === '') && 'must be a path',
  });
  const { signal = new AbortController().signal, timeoutMs } = options;
  const { kind, noun, read } = getTaskFacts(operation);
  const isRepeatable = idempotencyKey !== undefined;
  const destination = new Destination('.', output, { force, receipt: false, resumed: isRepeatable });
  // An earlier call with the same key may have saved it.
  destination.check([kind], () => isRepeatable);
  const started = await client.requestNamed(
    operation,
    { body: encodeImages(kind, body) },
    { idempotencyKey, signal },
  );
  const { id: task_id } = readTaskState(kind, started.data, started.body);
  const readState = async () => {
    const { data, body } = await client.requestNamed(read as OperationName, { task_id }, { signal });
    return readTaskState(kind, data, body);
  };
  const ended = await wait(readState, {
    isDone: ({ state }) => findEnd(state) !== undefined,
    onAnswer: ({ state }) => onStatus?.(state),
    ...(timeoutMs !== undefined && { timeoutMs }),
    signal,
  });
  if (findEnd(ended.state) === 'badly') throw await createFailure(client, noun, task_id, ended);
  const files: Saved[] = [];
  for (const [at, url] of ended.outputs.entries()) {
    files.push(await destination.save(client as never, url, { name: kind, task_id, index: at + 1 }, signal));
  }
  return { taskId: task_id, files };
}

function encodeImages(kind: TaskKind, body: Job['body']): Record<string, unknown> {
  const encode = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(encode);
    return value instanceof Uint8Array ? encodeImage(Buffer.from(value), kind) : value;
  };
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, encode(value)]));
}

async function createFailure(
  client: Client,
  noun: string,
  task_id: string,
  { reason }: TaskState,
): Promise<FlowError> {
  const known = await client.task.get({ task_id }).then(
    (account) => account.reason,
    // Some services do not say more.
    () => undefined,
  );
  const why = known ?? (reason && `${reason}.`);
  return new FlowError('task_failed', `The ${noun} ${task_id} failed${why ? `: ${why}` : '.'}`, {
    subject: task_id,
  });
}
