import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { StillRunningError } from '../../client/errors.js';
import type { TaskKind } from '../../contract/operation.js';
import { type Message, regen, say, type Text } from '../../contract/schema/message.js';
import { checkDigest } from '../../flows/digest.js';
import type { Saved } from '../../flows/save-file.js';
import { awaitTask, saveResults } from '../../flows/tasks/await-task.js';
import { Destination } from '../../flows/tasks/destination.js';
import type { Entry } from '../../flows/tasks/ledger.js';
import { cannotRead, readAccount, type Task, type TaskContext } from '../../flows/tasks/task.js';
import { describeState, findEnd, type TaskState } from '../../flows/tasks/task-state.js';
import type { FlagValues } from '../command/command.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { durationMs } from '../terminal/duration.js';
import { Failure, usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { shellWord } from '../terminal/text.js';

export interface TaskOutcome {
  /** Printed on stdout, one per line. */
  readonly lines: readonly string[];
  /** The result itself, printed on stdout as it is. */
  readonly bytes?: Buffer;
  /** Printed with `--json`; absent if the task could not be followed to its end. */
  readonly answer?: unknown;
  readonly failure?: Failure;
}

/** The state of a task whose service does not answer. */
export const NOT_ANSWERING = 'not answering';

/** Is notified of tasks while a command waits for them. */
interface TaskObserver {
  state(id: string, state: string): void;
  saved(saved: Saved): Promise<void>;
}

/** How long a command waits, and where it saves results. */
export interface FinishContext extends TaskContext {
  readonly now: () => number;
  readonly watch: TaskObserver;
  readonly destination: Destination | undefined;
  /** Whether the bytes of the result are the answer. */
  readonly printsBytes?: boolean;
  readonly timeoutMs: number;
  readonly intervalMs: number;
  /** What the hint how to go on repeats. */
  readonly flags?: FlagValues;
  /** Whether the credential is a key that ends with the program which has it. */
  readonly isInProgram?: boolean;
}

/** Reads from the flags of a command how long to wait and where to save. */
export function planFinish(
  { services, ledger, signal, system, flags }: Needs<'flags' | 'system' | 'signal' | 'ledger' | 'services'>,
  watch: TaskObserver,
  { count, offPeak, resumed = false }: { count: number; offPeak: boolean; resumed?: boolean },
): FinishContext {
  const isPrinted = printsBytes(flags, system, count);
  const destination = isPrinted ? undefined : openDestination(system.cwd, flags, resumed);
  const limits = readWaitFlags(flags, offPeak);
  return {
    services,
    ledger,
    signal,
    now: system.now,
    watch,
    destination,
    flags,
    isInProgram: system.env.REGEN_KEY_NAME !== undefined,
    ...limits,
    printsBytes: isPrinted,
  };
}

/**
 * Reads how long to wait for a task, and the maximum polling interval.
 * @param offPeak whether a task may take the 48 hours that service.md allows off-peak tasks
 */
export function readWaitFlags(
  { timeout, interval }: FlagValues,
  offPeak = false,
): Pick<FinishContext, 'timeoutMs' | 'intervalMs'> {
  return {
    timeoutMs: durationMs((timeout as string | undefined) ?? (offPeak ? '48h' : '30m'), '--timeout'),
    intervalMs: durationMs((interval as string | undefined) ?? '10s', '--interval'),
  };
}

/** The destination in the flags of a command; `--receipt` and `--force` need `--output`. */
export function openDestination(
  cwd: string,
  flags: FlagValues,
  resumed = false,
  claimed = new Set<string>(),
): Destination | undefined {
  const { output, force, receipt } = flags;
  const how = { force: force === true, receipt: receipt === true, resumed, claimed };
  if (output === '-')
    throw usage('A batch cannot write its results to stdout.', 'Pass a folder: -o results/');
  if (typeof output === 'string') return new Destination(cwd, output, how);
  const alone = ['receipt', 'force'].find((flag) => flags[flag]);
  if (alone) throw usage(`--${alone} requires --output; nothing is saved without it.`);
  return undefined;
}

/**
 * Waits until a task has ended, and saves its results.
 * @param begun the response to its start, if this command started it
 */
export async function finishTask(
  context: FinishContext,
  task: Task,
  begun?: TaskState,
): Promise<TaskOutcome> {
  const { watch, destination } = context;
  try {
    const seen =
      begun && findEnd(begun.state)
        ? begun
        : await awaitTask(context, task, {
            now: context.now,
            timeoutMs: context.timeoutMs,
            intervalMs: context.intervalMs,
            onAnswer: ({ state }) => watch.state(task.id, state),
            onFailure: () => watch.state(task.id, NOT_ANSWERING),
          });
    if (findEnd(seen.state) === 'badly') {
      return { lines: [], answer: seen.sent, failure: await toTaskFailure(context, task, seen) };
    }
    if (context.printsBytes)
      return { lines: [], bytes: await downloadResult(context, task, seen), answer: seen.sent };
    const lines = destination ? await saveTask(context, task, seen, destination) : seen.outputs;
    return { lines, answer: seen.sent };
  } catch (error) {
    if (error instanceof StillRunningError) {
      const last = error.last as TaskState | undefined;
      const failure = toStillRunningFailure(task, context, last?.state);
      return { lines: [], answer: last?.sent ?? {}, failure };
    }
    if (!cannotRead(error, task)) throw error;
    return { lines: [task.id], answer: begun?.sent ?? {}, failure: toUnreadableFailure(task) };
  }
}

/**
 * Whether `--output -` asks for the bytes of the result on stdout.
 * @param count how many tasks the command has
 * @throws Failure if stdout cannot hold them
 */
export function printsBytes(flags: FlagValues, { stdout }: Pick<System, 'stdout'>, count: number): boolean {
  if (flags.output !== '-') return false;
  if (count > 1)
    throw usage(
      `--output - takes exactly one result; ${count} were requested.`,
      'For several, pass a folder: -o results/',
    );
  const other = ['json', 'ndjson', 'jq', 'receipt', 'force', 'open'].find(
    (name) => flags[name] !== undefined,
  );
  if (other) throw usage(`--output - and --${other} cannot be used together.`);
  if (stdout.isTTY)
    throw usage('--output - would write binary data to the terminal.', 'Pipe it, or pass a file.');
  return true;
}

export async function downloadResult(
  { services, signal }: TaskContext,
  { target }: Task,
  { outputs }: TaskState,
): Promise<Buffer> {
  const { client } = await services.reach(target);
  const to = new PassThrough();
  const [{ headers }, bytes] = await Promise.all([
    client.download(outputs[0] as string, { to, signal }),
    buffer(to),
  ]);
  checkDigest(headers['repr-digest'], createHash('sha256').update(bytes).digest('hex'));
  return bytes;
}

/** Saves the results of a task, and prints their paths on stderr. */
export async function saveTask(
  context: TaskContext & Pick<FinishContext, 'watch'>,
  task: Task,
  seen: TaskState,
  destination: Destination,
): Promise<readonly string[]> {
  try {
    return await saveResults(context, task, seen, destination, (saved) => context.watch.saved(saved));
  } catch (error) {
    context.signal.throwIfAborted();
    const { message, facts } = toFailure(error);
    const hint = say`The task is done. Save its results elsewhere with: ${regen('task download', `${shellWord(task.id)} -o <path>`)}`;
    throw new Failure(message, { ...facts, hint });
  }
}

export async function toTaskFailure(context: TaskContext, task: Task, seen: TaskState): Promise<Failure> {
  const { id, noun } = task;
  const known = (await readAccount(context, task))?.reason;
  const reason = known ?? (seen.reason && `${seen.reason}.`);
  if (reason && task.entry) await context.ledger.change(task.entry.id, { reason });
  return new Failure(`The ${noun} ${id} failed${reason ? `: ${reason}` : '.'}`, {
    code: 'task_failed',
    ...(reason && { reason }),
    hint: say`Show its request with: ${regen('task show', id)}`,
  });
}

/** The flags that the command which goes on with a task needs to end where this one would have. */
const RESUMED_FLAGS = ['output', 'receipt', 'force', 'base-url', 'profile', 'token-file'];

/** How to go on with tasks: with all that was given to this command, or in a program whose key ends with it. */
export function describeResume(
  ids: readonly string[],
  { flags = {}, isInProgram }: Pick<FinishContext, 'flags' | 'isInProgram'>,
): Text {
  if (isInProgram) return 'Run the same command again to go on with it; it is not paid for again.';
  const given = RESUMED_FLAGS.flatMap((name) => {
    const value = flags[name];
    if (value === true) return [`--${name}`];
    return typeof value === 'string' ? [`--${name}`, shellWord(value)] : [];
  });
  return say`Resume with: ${regen('task wait', [...ids, ...given].join(' '))}`;
}

export function toStillRunningFailure(
  { id, noun }: Task,
  context: Pick<FinishContext, 'flags' | 'isInProgram'> = {},
  state?: string,
): Failure {
  const isQueued = state !== undefined && describeState(state) === 'queued';
  const verb = isQueued ? 'started' : 'ended';
  const resume = describeResume([id], context);
  return new Failure(`The ${noun} ${id} has not ${verb} yet; the command stopped waiting for it.`, {
    code: 'still_running',
    hint: isQueued ? say`\`${regen('doctor')}\` shows whether the service can make it. ${resume}` : resume,
  });
}

function toUnreadableFailure({ id, kind, noun, target, entry }: Task): Failure {
  const message = `${target.name} cannot report the status of the ${noun} ${id}, or does not show it to this credential. The task continues.`;
  return new Failure(message, {
    code: 'status_unreadable',
    hint: explainWebhook(kind, entry),
  });
}

function explainWebhook(kind: TaskKind, entry: Entry | undefined): Message {
  const { field, flag } = WEBHOOK_FIELDS[kind];
  return entry?.request[field] === undefined
    ? say`Run \`${regen('webhook listen')}\`, and pass its URL with ${flag} to be notified when the status changes.`
    : say`Its webhook is notified. To wait for it, run: ${regen('webhook listen', `--until ${shellWord(entry.task_id ?? entry.id)}`)}`;
}

/** The field and the flag for the webhook URL of a task. */
const WEBHOOK_FIELDS = {
  image: { field: 'webhook_url', flag: '--webhook-url' },
  video: { field: 'callback_url', flag: '--callback-url' },
} as const;
