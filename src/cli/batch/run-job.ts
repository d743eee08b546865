import { NetworkError, ServiceError } from '../../client/errors.js';
import type { FlagValues, ParsedCommand } from '../command/command.js';
import { toFailure } from '../command/to-failure.js';
import type { Target } from '../connect/target.js';
import { finishTask, type Outcome, readWaitFlags } from '../generation/await-task.js';
import { openDestination } from '../generation/destination.js';
import { startTask } from '../generation/start.js';
import { type Task, type TaskContext, type TaskState, toStartedTask, toTask } from '../generation/task.js';
import { exitCodes, type Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import type { Board, Status } from './batch-progress.js';
import type { Patience } from './circuit-breaker.js';
import type { JobState, Journal } from './journal.js';
import { type Purse, reserveCredits } from './reserve.js';
import { parseJob, planLine, type WrittenJob } from './written-job.js';

/** What the jobs of a batch share. */
export interface Batch extends TaskContext {
  readonly flags: FlagValues;
  readonly system: System;
  readonly output: Output;
  readonly target: Target;
  readonly journal: Journal;
  readonly board: Board;
  readonly patience: Patience;
  readonly purse: Purse | undefined;
}

/** How far a job came in this run. */
export interface End {
  readonly status: Status;
  readonly outcome?: Outcome;
  readonly failure?: Failure;
  /** Its results lie in files. */
  readonly isSaved?: boolean;
}

interface Begun {
  readonly task: Task;
  /** What its start answered, where this run started it. */
  readonly seen?: TaskState;
}

/** Takes a job from where earlier runs left it as far as it goes. Only an interruption is thrown. */
export async function runJob(batch: Batch, written: WrittenJob): Promise<End> {
  const { journal, purse } = batch;
  const { key } = written;
  const known = journal.get(key);
  // What failed is begun anew.
  const state = known.end === undefined ? known : {};
  const command = parseJob(batch.flags, written);
  if (state.entry !== undefined) purse?.budget.resume(key, state.credits ?? 0);
  const end = await goOn(batch, written, command, state);
  const cost = end.status === 'failed' ? 0 : creditsIn(end.outcome);
  if (end.status === 'done' || end.status === 'failed') {
    const reason = end.failure?.message;
    const told = { ...(cost !== undefined && { credits: cost }), ...(reason && { reason }) };
    journal.change(key, { end: end.status, ...told });
  }
  purse?.budget.settle(key, cost);
  return end;
}

async function goOn(
  batch: Batch,
  written: WrittenJob,
  command: ParsedCommand,
  state: JobState,
): Promise<End> {
  let begun: Begun;
  try {
    begun = findStarted(batch, state) ?? (await startJob(batch, written, command, state));
  } catch (error) {
    const failure = hearFailure(batch, error);
    return { status: statusUnbegun(batch, written, error, failure), failure };
  }
  try {
    return await finishJob(batch, command.flags, begun);
  } catch (error) {
    const failure = hearFailure(batch, error);
    if (error instanceof ServiceError)
      return { status: error.status === 404 ? 'failed' : 'running', failure };
    return { status: error === failure ? 'unsaved' : 'running', failure };
  }
}

/** The task that an earlier run started. */
function findStarted(batch: Batch, { entry: id, operation, task_id }: JobState): Begun | undefined {
  const { ledger, target } = batch;
  const entry = id === undefined ? undefined : ledger.read(id);
  if (entry?.task_id !== undefined) return { task: toTask(batch, entry) };
  if (task_id === undefined || operation === undefined) return undefined;
  return { task: toStartedTask(operation, task_id, target) };
}

async function startJob(
  batch: Batch,
  { line, key }: WrittenJob,
  command: ParsedCommand,
  state: JobState,
): Promise<Begun> {
  const { target, output, journal, patience, purse } = batch;
  const job = await planLine(command, batch);
  const credits = purse && state.entry === undefined ? await reserveCredits(purse, key, job) : state.credits;
  const context = { ...batch, say: (text: string) => output.note(`line ${line}: ${text}`) };
  let entry = state.entry;
  const onEntry = (id: string) => {
    entry = id;
    const { operation } = job;
    journal.change(key, { entry, operation, ...(credits !== undefined && { credits }) }, { durable: true });
  };
  const started = await patience.outlast(
    () => startTask(context, job, { choice: { known: entry }, batch: true, onEntry }),
    (error) => mayRepeat(error, target),
  );
  journal.change(key, { task_id: started.task.id });
  return started;
}

/** Whether a start may be sent again at once: nothing was begun, or the service is known to honour its key. */
function mayRepeat(error: unknown, { baseUrl }: Target): boolean {
  if (error instanceof ServiceError) return toFailure(error).facts.exit === exitCodes.unreachable;
  return error instanceof NetworkError && (error.sent === false || baseUrl === undefined);
}

async function finishJob(batch: Batch, flags: FlagValues, { task, seen }: Begun): Promise<End> {
  const { services, ledger, signal, system, patience } = batch;
  const destination = openDestination(system.cwd, flags, true);
  const context = {
    ...{ services, ledger, signal, now: system.now, watch: unwatched, destination },
    ...readWaitFlags(flags, flags['off-peak'] === true),
  };
  const isAway = (error: unknown) => toFailure(error).facts.exit === exitCodes.unreachable;
  const outcome = await patience.outlast(() => finishTask(context, task, seen), isAway);
  const { failure } = outcome;
  if (!failure) return { status: 'done', outcome, isSaved: destination !== undefined };
  return { status: failure.facts.code === 'task_failed' ? 'failed' : 'running', outcome, failure };
}

/** A batch shows counts, not the states of its tasks. */
const unwatched = { state: () => undefined, say: async () => undefined };

const refusals: readonly number[] = [exitCodes.usage, exitCodes.notFound, exitCodes.conflict];

/** Decided: what the service refused has failed; what it was not asked, or did not answer, is left for the next run. */
function statusUnbegun(
  { ledger, journal }: Batch,
  { key }: WrittenJob,
  error: unknown,
  { facts }: Failure,
): Status {
  const { entry: id } = journal.get(key);
  const entry = id === undefined ? undefined : ledger.read(id);
  // Of a refusal the ledger keeps nothing.
  if (entry && entry.task_id === undefined) return 'unanswered';
  return error instanceof ServiceError && refusals.includes(facts.exit) ? 'failed' : 'unsent';
}

function hearFailure({ signal, patience }: Batch, error: unknown): Failure {
  signal.throwIfAborted();
  const failure = toFailure(error);
  patience.heard(failure);
  return failure;
}

/** What the service says that a task costs, where it does. */
function creditsIn(outcome: Outcome | undefined): number | undefined {
  const { credits } = (outcome?.answer ?? {}) as { credits?: unknown };
  return typeof credits === 'number' ? credits : undefined;
}
