import { ServiceError, StillRunningError } from '../../client/errors.js';
import { wait } from '../../client/wait.js';
import { durationMs } from '../duration.js';
import { exitCodes, Failure } from '../failure.js';
import { failureOf } from '../failure-of.js';
import type { FlagValues, Invocation } from '../invocation.js';
import { bytes } from '../text.js';
import { accountOf, type Told } from './account.js';
import { type Destination, destinationOf, type Saved } from './destination.js';
import { hasEnded, nounOf, readOperation, readTask, type Seen, type Task } from './task.js';
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

export function endingOf(invocation: Invocation, watch: Watch): Ending {
  return { invocation, watch, destination: destinationOf(invocation), ...patienceOf(invocation.flags) };
}

/** How long to wait for a task, and the longest pause between two looks. */
export function patienceOf({ timeout, interval }: FlagValues): Pick<Ending, 'timeoutMs' | 'intervalMs'> {
  return {
    timeoutMs: durationMs((timeout as string | undefined) ?? '30m', '--timeout'),
    intervalMs: durationMs((interval as string | undefined) ?? '10s', '--interval'),
  };
}

/**
 * Waits until a task has ended and brings home what it made.
 * @param begun what its start answered, where this command started it
 */
export async function finish(ending: Ending, task: Task, begun?: Seen): Promise<Outcome> {
  try {
    const seen = begun && hasEnded(begun.task) ? begun : await ended(ending, task);
    if (seen.task.status === 'FAILED') {
      return { lines: [], answer: seen.answer, failure: await failed(ending, task) };
    }
    return { lines: await bringHome(ending, task, seen), answer: seen.answer };
  } catch (error) {
    if (error instanceof StillRunningError)
      return { lines: [], answer: error.last ?? {}, failure: stillRunning(task) };
    if (!cannotRead(error, task)) throw error;
    return { lines: [task.id], answer: begun?.answer ?? {}, failure: unreadable(task) };
  }
}

async function ended({ invocation, watch, timeoutMs, intervalMs }: Ending, task: Task): Promise<Seen> {
  const { signal, system } = invocation;
  return wait(() => readTask(invocation, task), {
    isDone: (seen) => hasEnded(seen.task),
    onAnswer: (seen) => watch.state(task.id, seen.task.status),
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
): Promise<string[]> {
  if (!destination) return seen.task.generated;
  const { client } = await invocation.service(task.target);
  const name = task.entry?.name ?? 'image';
  const told = {
    ...(seen.answer as Told),
    ...(destination.how.receipt && (await accountOf(invocation, task))),
  };
  const paths: string[] = [];
  for (const [at, url] of seen.task.generated.entries()) {
    try {
      const facts = { name, task_id: task.id, index: at + 1 };
      const saved = await destination.save(client, url, facts, invocation.signal);
      paths.push(saved.path);
      await watch.say(`${bytes(saved.bytes)} saved as ${saved.path}.`);
      if (destination.how.receipt) await destination.writeReceipt(saved, receipt(task, saved, told));
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

/** What was asked for and what came of it; `null` where the service does not tell. */
function receipt({ id, operation, target, entry }: Task, saved: Saved, told: Told) {
  return {
    task_id: id,
    service: entry?.service ?? target.baseUrl ?? 'local',
    operation,
    request: entry?.request ?? null,
    created_at: entry?.created_at ?? null,
    seed: told.seed ?? entry?.request.seed ?? null,
    credits: told.credits ?? null,
    sha256: saved.sha256,
    bytes: saved.bytes,
  };
}

async function failed({ invocation }: Ending, task: Task): Promise<Failure> {
  const { id, operation } = task;
  const reason = (await accountOf(invocation, task))?.reason;
  return new Failure(`The ${nounOf(operation)} ${id} failed${reason ? `: ${reason}` : '.'}`, {
    code: 'task_failed',
    exit: exitCodes.endedBadly,
    hint: `Look at what was asked for with: regen task show ${id}`,
  });
}

function stillRunning({ id, operation }: Task): Failure {
  return new Failure(
    `The ${nounOf(operation)} ${id} is still running, and the time to wait for it is over.`,
    {
      code: 'still_running',
      exit: exitCodes.stillGoing,
      hint: `Go back to it with: regen task wait ${id}`,
    },
  );
}

function cannotRead(error: unknown, { operation }: Task): boolean {
  return (
    error instanceof ServiceError &&
    [404, 405].includes(error.status) &&
    readOperation(operation).extension === true
  );
}

function unreadable({ id, operation, target }: Task): Failure {
  return new Failure(
    `${target.name} cannot tell the status of the ${nounOf(operation)} ${id}; the task goes on.`,
    {
      code: 'status_unreadable',
      exit: exitCodes.stillGoing,
      hint: 'Start it with --webhook-url to be told when its status changes.',
    },
  );
}
