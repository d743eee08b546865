import { StillRunningError } from '../../client/errors.js';
import { wait } from '../../client/wait.js';
import type { TaskKind } from '../../contract/operation.js';
import { failureOf } from '../command/failure-of.js';
import type { FlagValues, Invocation } from '../command/invocation.js';
import type { Entry } from '../connect/ledger.js';
import { durationMs } from '../terminal/duration.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { bytes } from '../terminal/text.js';
import { accountOf } from './account.js';
import { type Destination, destinationOf } from './destination.js';
import { receiptOf } from './receipt.js';
import { cannotRead, readTask, type Task } from './task.js';
import { endOf, type Seen } from './task-state.js';
import type { Watch } from './watch.js';

/** How one of a command's tasks ended. */
export interface Outcome {
  /** For stdout, one a line. */
  readonly lines: readonly string[];
  /** For `--json`. */
  readonly answer: unknown;
  readonly failure?: Failure;
}

/** How a command waits, and where it leaves results. */
export interface Ending {
  readonly invocation: Invocation;
  readonly watch: Pick<Watch, 'state' | 'say'>;
  readonly destination: Destination | undefined;
  readonly timeoutMs: number;
  readonly intervalMs: number;
}

export function endingOf(invocation: Invocation, watch: Watch, offPeak: boolean, resumed = false): Ending {
  const patience = patienceOf(invocation.flags, offPeak);
  return { invocation, watch, destination: destinationOf(invocation, resumed), ...patience };
}

/**
 * How long to wait for a task, and the longest pause between two looks.
 * @param offPeak whether a task takes the 48 hours that service.md gives to off-peak ones
 */
export function patienceOf(
  { timeout, interval }: FlagValues,
  offPeak = false,
): Pick<Ending, 'timeoutMs' | 'intervalMs'> {
  return {
    timeoutMs: durationMs((timeout as string | undefined) ?? (offPeak ? '48h' : '30m'), '--timeout'),
    intervalMs: durationMs((interval as string | undefined) ?? '10s', '--interval'),
  };
}

/**
 * Waits until a task has ended and brings home what it made.
 * @param begun what its start answered, where this command started it
 */
export async function finish(ending: Ending, task: Task, begun?: Seen): Promise<Outcome> {
  try {
    const seen = begun && endOf(begun.state) ? begun : await ended(ending, task);
    if (endOf(seen.state) === 'badly') {
      return { lines: [], answer: seen.answer, failure: await failed(ending, task, seen) };
    }
    return { lines: await bringHome(ending, task, seen), answer: seen.answer };
  } catch (error) {
    if (error instanceof StillRunningError)
      return {
        lines: [],
        answer: (error.last as Seen | undefined)?.answer ?? {},
        failure: stillRunning(task),
      };
    if (!cannotRead(error, task)) throw error;
    return { lines: [task.id], answer: begun?.answer ?? {}, failure: unreadable(task) };
  }
}

async function ended({ invocation, watch, timeoutMs, intervalMs }: Ending, task: Task): Promise<Seen> {
  const { signal, system } = invocation;
  return wait(() => readTask(invocation, task), {
    isDone: (seen) => endOf(seen.state) !== undefined,
    onAnswer: (seen) => watch.state(task.id, seen.state),
    onFailure: () => watch.state(task.id, 'not answering'),
    timeoutMs,
    intervalMs,
    signal,
    now: system.now,
  });
}

/** The URLs of what a task made, or the paths it was saved at. */
export async function bringHome(
  { invocation, watch, destination }: Pick<Ending, 'invocation' | 'watch' | 'destination'>,
  task: Task,
  seen: Seen,
): Promise<readonly string[]> {
  if (!destination) return seen.outputs;
  const { client } = await invocation.service(task.target);
  const name = task.entry?.name ?? task.kind;
  const told = { ...seen.facts, ...(destination.how.receipt && (await accountOf(invocation, task))) };
  const paths: string[] = [];
  for (const [at, url] of seen.outputs.entries()) {
    try {
      const facts = { name, task_id: task.id, index: at + 1 };
      const saved = await destination.save(client, url, facts, invocation.signal);
      paths.push(saved.path);
      await watch.say(`${bytes(saved.bytes)} saved as ${saved.path}.`);
      if (destination.how.receipt) await destination.writeReceipt(saved, receiptOf(task, told, saved));
    } catch (error) {
      invocation.signal.throwIfAborted();
      const { message, facts } = failureOf(error);
      const hint = `The task is done; save its results elsewhere with: regen task download ${task.id} -o …`;
      throw new Failure(message, { ...facts, hint });
    }
  }
  if (task.entry) invocation.ledger.change(task.entry.id, { saved: paths });
  return paths;
}

/** The end of a task that failed. */
export async function failed(
  { invocation }: Pick<Ending, 'invocation'>,
  task: Task,
  seen: Seen,
): Promise<Failure> {
  const { id, noun } = task;
  const told = (await accountOf(invocation, task))?.reason;
  const reason = told ?? (seen.reason && `${seen.reason}.`);
  return new Failure(`The ${noun} ${id} failed${reason ? `: ${reason}` : '.'}`, {
    code: 'task_failed',
    exit: exitCodes.endedBadly,
    hint: `Look at what was asked for with: regen task show ${id}`,
  });
}

export function stillRunning({ id, noun }: Task): Failure {
  return new Failure(`The ${noun} ${id} is still running, and the time to wait for it is over.`, {
    code: 'still_running',
    exit: exitCodes.stillGoing,
    hint: `Go back to it with: regen task wait ${id}`,
  });
}

function unreadable({ id, kind, noun, target, entry }: Task): Failure {
  return new Failure(`${target.name} cannot tell the status of the ${noun} ${id}; the task goes on.`, {
    code: 'status_unreadable',
    exit: exitCodes.stillGoing,
    hint: howToBeTold(kind, entry),
  });
}

function howToBeTold(kind: TaskKind, entry: Entry | undefined): string {
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
