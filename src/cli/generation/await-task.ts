import { StillRunningError } from '../../client/errors.js';
import { wait } from '../../client/wait.js';
import type { TaskKind } from '../../contract/operation.js';
import type { FlagValues } from '../command/command.js';
import { toFailure } from '../command/to-failure.js';
import type { Entry } from '../connect/ledger.js';
import { durationMs } from '../terminal/duration.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { formatBytes, shellWord } from '../terminal/text.js';
import { type Destination, openDestination, type Saved } from './destination.js';
import {
  cannotRead,
  findEnd,
  readAccount,
  readTask,
  type Task,
  type TaskContext,
  type TaskFigures,
  type TaskState,
} from './task.js';

/** How one of a command's tasks ended. */
export interface Outcome {
  /** For stdout, one a line. */
  readonly lines: readonly string[];
  /** For `--json`. */
  readonly answer: unknown;
  readonly failure?: Failure;
}

/** Hears of tasks while they are waited for. */
interface TaskObserver {
  /** What a task was last seen to be. */
  state(id: string, state: string): void;
  /** A line that stays. */
  say(text: string): Promise<void>;
}

/** How a command waits, and where it leaves results. */
export interface AwaitContext extends TaskContext {
  readonly now: () => number;
  readonly watch: TaskObserver;
  readonly destination: Destination | undefined;
  readonly timeoutMs: number;
  readonly intervalMs: number;
  /** What the hint how to go on repeats. */
  readonly flags?: FlagValues;
}

interface PlanAwaitContext extends TaskContext {
  readonly system: Pick<System, 'cwd' | 'now'>;
  readonly flags: FlagValues;
}

/** How a command's flags say to wait, and where to save. */
export function planAwait(
  { services, ledger, signal, system, flags }: PlanAwaitContext,
  watch: TaskObserver,
  offPeak: boolean,
  resumed = false,
): AwaitContext {
  const destination = openDestination(system.cwd, flags, resumed);
  const limits = readWaitFlags(flags, offPeak);
  return { services, ledger, signal, now: system.now, watch, destination, flags, ...limits };
}

/**
 * How long to wait for a task, and the longest pause between two looks.
 * @param offPeak whether a task takes the 48 hours that service.md gives to off-peak ones
 */
export function readWaitFlags(
  { timeout, interval }: FlagValues,
  offPeak = false,
): Pick<AwaitContext, 'timeoutMs' | 'intervalMs'> {
  return {
    timeoutMs: durationMs((timeout as string | undefined) ?? (offPeak ? '48h' : '30m'), '--timeout'),
    intervalMs: durationMs((interval as string | undefined) ?? '10s', '--interval'),
  };
}

/**
 * Waits until a task has ended and brings home what it made.
 * @param begun what its start answered, where this command started it
 */
export async function finishTask(context: AwaitContext, task: Task, begun?: TaskState): Promise<Outcome> {
  try {
    const seen = begun && findEnd(begun.state) ? begun : await untilEnded(context, task);
    if (findEnd(seen.state) === 'badly') {
      return { lines: [], answer: seen.answer, failure: await toTaskFailure(context, task, seen) };
    }
    return { lines: await saveResults(context, task, seen), answer: seen.answer };
  } catch (error) {
    if (error instanceof StillRunningError)
      return {
        lines: [],
        answer: (error.last as TaskState | undefined)?.answer ?? {},
        failure: toStillRunningFailure(task, context.flags),
      };
    if (!cannotRead(error, task)) throw error;
    return { lines: [task.id], answer: begun?.answer ?? {}, failure: toUnreadableFailure(task) };
  }
}

function untilEnded(context: AwaitContext, task: Task): Promise<TaskState> {
  const { watch, timeoutMs, intervalMs, signal, now } = context;
  return wait(() => readTask(context, task), {
    isDone: (seen) => findEnd(seen.state) !== undefined,
    onAnswer: (seen) => watch.state(task.id, seen.state),
    onFailure: () => watch.state(task.id, 'not answering'),
    timeoutMs,
    intervalMs,
    signal,
    now,
  });
}

/** The URLs of what a task made, or the paths it was saved at. */
export async function saveResults(
  context: Omit<AwaitContext, 'now' | 'timeoutMs' | 'intervalMs'>,
  task: Task,
  seen: TaskState,
): Promise<readonly string[]> {
  const { services, ledger, signal, watch, destination } = context;
  if (!destination) return seen.outputs;
  const { client } = await services.reach(task.target);
  const name = task.entry?.name ?? task.kind;
  const figures = { ...seen.facts, ...(destination.how.receipt && (await readAccount(context, task))) };
  const paths: string[] = [];
  for (const [at, url] of seen.outputs.entries()) {
    try {
      const facts = { name, task_id: task.id, index: at + 1 };
      const saved = await destination.save(client, url, facts, signal);
      paths.push(saved.path);
      await watch.say(`${formatBytes(saved.bytes)} saved as ${saved.path}.`);
      if (destination.how.receipt) await destination.writeReceipt(saved, formatReceipt(task, figures, saved));
    } catch (error) {
      signal.throwIfAborted();
      const { message, facts } = toFailure(error);
      const hint = `The task is done; save its results elsewhere with: regen task download ${task.id} -o …`;
      throw new Failure(message, { ...facts, hint });
    }
  }
  if (task.entry) ledger.change(task.entry.id, { saved: paths });
  return paths;
}

type Figures = TaskFigures & { readonly operation?: string };

/** What was asked for and what came of it; `null` where the service does not say. */
function formatReceipt({ id, target, entry }: Task, figures: Figures, saved: Saved): object {
  return {
    task_id: id,
    service: entry?.service ?? target.baseUrl ?? 'local',
    operation: figures.operation ?? entry?.operation ?? null,
    request: entry?.request ?? null,
    created_at: entry?.created_at ?? null,
    seed: figures.seed ?? entry?.seed ?? entry?.request.seed ?? null,
    credits: figures.credits ?? entry?.credits ?? null,
    sha256: saved.sha256,
    bytes: saved.bytes,
  };
}

/** The end of a task that failed. */
export async function toTaskFailure(
  context: Pick<TaskContext, 'services' | 'signal'>,
  task: Task,
  seen: TaskState,
): Promise<Failure> {
  const { id, noun } = task;
  const known = (await readAccount(context, task))?.reason;
  const reason = known ?? (seen.reason && `${seen.reason}.`);
  return new Failure(`The ${noun} ${id} failed${reason ? `: ${reason}` : '.'}`, {
    code: 'task_failed',
    exit: exitCodes.endedBadly,
    hint: `Look at what was asked for with: regen task show ${id}`,
  });
}

/** The flags that the command which goes on with a task needs to end where this one would have. */
const RESUMED_FLAGS = ['output', 'receipt', 'force', 'base-url', 'profile', 'token-file'];

/** Writes the command that goes on with tasks, with all that was given to this one. */
export function formatResume(ids: readonly string[], flags: FlagValues): string {
  const given = RESUMED_FLAGS.flatMap((name) => {
    const value = flags[name];
    if (value === true) return [`--${name}`];
    return typeof value === 'string' ? [`--${name}`, shellWord(value)] : [];
  });
  return ['regen task wait', ...ids, ...given].join(' ');
}

export function toStillRunningFailure({ id, noun }: Task, flags: FlagValues = {}): Failure {
  return new Failure(`The ${noun} ${id} is still running, and the time to wait for it is over.`, {
    code: 'still_running',
    exit: exitCodes.stillGoing,
    hint: `Go back to it with: ${formatResume([id], flags)}`,
  });
}

function toUnreadableFailure({ id, kind, noun, target, entry }: Task): Failure {
  return new Failure(`${target.name} cannot tell the status of the ${noun} ${id}; the task goes on.`, {
    code: 'status_unreadable',
    exit: exitCodes.stillGoing,
    hint: explainWebhook(kind, entry),
  });
}

function explainWebhook(kind: TaskKind, entry: Entry | undefined): string {
  const { field, flag } = addressOf[kind];
  const isTold = entry?.request[field] !== undefined;
  return isTold
    ? `Its webhook is told; where that is \`regen webhook listen\`, add --until ${entry.task_id ?? entry.id}.`
    : `Run \`regen webhook listen\`, and start it with ${flag} to be told there when its status changes.`;
}

/** What names an address that is told of a task. */
const addressOf = {
  image: { field: 'webhook_url', flag: '--webhook-url' },
  video: { field: 'callback_url', flag: '--callback-url' },
} as const;
