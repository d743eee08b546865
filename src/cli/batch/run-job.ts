import { NetworkError, ServiceError } from '../../client/errors.js';
import { mayRepeat as mayRepeatRequest } from '../../client/http.js';
import type { Prices } from '../../contract/prices.js';
import type { Saved } from '../../flows/save-file.js';
import { startTask } from '../../flows/tasks/start-task.js';
import { type Target, type Task, toStartedTask, toTask } from '../../flows/tasks/task.js';
import type { TaskState } from '../../flows/tasks/task-state.js';
import type { ParsedCommand } from '../command/command.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { finishTask, openDestination, readWaitFlags, type TaskOutcome } from '../generation/finish-task.js';
import { findPrice } from '../generation/price.js';
import { nameImage } from '../generation/run-tasks.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { readBytes } from '../terminal/stdin.js';
import type { JobStatus } from './batch-progress.js';
import { type Budget, reserveCredits } from './budget.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import { findOutput, findState } from './job-state.js';
import type { JobState, Journal } from './journal.js';
import { parseJob, planLine, type WrittenJob } from './written-job.js';

export interface BatchContext
  extends Needs<'services' | 'ledger' | 'signal' | 'flags' | 'system' | 'output'> {
  readonly journal: Journal;
  readonly breaker: CircuitBreaker;
  readonly budget: Budget | undefined;
  /** If the service publishes them. */
  readonly prices: Prices | undefined;
  readonly checkExtension: (saved: Saved) => Promise<void>;
  /** The paths of results that were saved in a folder. */
  readonly claimed: Set<string>;
}

export interface JobEnd {
  readonly status: JobStatus;
  readonly outcome?: TaskOutcome;
  readonly failure?: Failure;
  readonly isSaved?: boolean;
}

interface BegunJob {
  readonly task: Task;
  /** The response to its start, if this run started it. */
  readonly seen?: TaskState;
}

/** Continues a job where earlier runs stopped. Throws only if it is interrupted. */
export async function runJob(batch: BatchContext, written: WrittenJob): Promise<JobEnd> {
  const { journal, budget } = batch;
  const { key } = written;
  const known = journal.get(key);
  const state = await findState(batch, known, written);
  const isPaid = known.end === 'done' && state.task_id !== undefined;
  const command = parseJob(batch.flags, written);
  if (state.entry !== undefined && !isPaid) budget?.resume(key, state.credits ?? 0);
  const continued = await continueJob(batch, written, command, state);
  const end = isPaid ? endPaid(batch, continued, state) : continued;
  const cost = end.status === 'failed' && !isPaid ? 0 : readCredits(end.outcome);
  if (end.status === 'done' || end.status === 'failed') {
    const { failure, outcome, isSaved } = end;
    const facts = {
      ...(cost !== undefined && { credits: cost }),
      ...(failure && { reason: failure.message, code: failure.facts.code, exit: failure.facts.exit }),
      ...(outcome && { [isSaved ? 'saved' : 'outputs']: outcome.lines }),
      ...(isSaved && { output: findOutput(batch.flags, written) }),
    };
    journal.change(key, { end: end.status, ...facts });
    budget?.settle(key, cost ?? journal.get(key).credits ?? 0);
  } else {
    // What never had an entry was certainly not sent.
    const isUnsent = end.status === 'unsent' && journal.get(key).entry === known.entry && !state.entry;
    budget?.settle(key, isUnsent ? 0 : undefined);
  }
  return end;
}

/** A job that was done before does not run again, but its task may be gone. */
function endPaid({ services }: BatchContext, end: JobEnd, { task_id }: JobState): JobEnd {
  const { status, failure, outcome } = end;
  const isEmpty = status === 'done' && outcome?.lines.length === 0;
  const isGone = isEmpty || status === 'failed' || failure?.facts.code === 'status_unreadable';
  if (!isGone) return failure ? { ...end, status: 'unsaved' } : end;
  const message = `The results of task ${task_id} are not saved, and ${services.target.name} no longer has them.`;
  return { status: 'failed', failure: new Failure(message, { code: 'not_found' }) };
}

async function continueJob(
  batch: BatchContext,
  written: WrittenJob,
  command: ParsedCommand,
  state: JobState,
): Promise<JobEnd> {
  let begun: BegunJob;
  try {
    begun = findStarted(batch, state) ?? (await startJob(batch, written, command, state));
  } catch (error) {
    const failure = await recordFailure(batch, command, error);
    return { status: chooseStatus(batch, written, error, failure), failure };
  }
  try {
    return await finishJob(batch, command, begun);
  } catch (error) {
    const failure = await recordFailure(batch, command, error);
    if (error instanceof ServiceError)
      return { status: error.status === 404 ? 'failed' : 'running', failure };
    return { status: error instanceof Failure ? 'unsaved' : 'running', failure };
  }
}

function findStarted(batch: BatchContext, { entry: id, operation, task_id }: JobState): BegunJob | undefined {
  const { ledger, services } = batch;
  const entry = id === undefined ? undefined : ledger.read(id);
  if (entry?.task_id !== undefined) return { task: toTask(batch, entry) };
  if (task_id === undefined || operation === undefined) return undefined;
  return { task: toStartedTask(operation, task_id, services.target) };
}

async function startJob(
  batch: BatchContext,
  { line, key, digest }: WrittenJob,
  command: ParsedCommand,
  state: JobState,
): Promise<BegunJob> {
  const { output, system, journal, breaker, budget } = batch;
  const { target } = batch.services;
  const planned = await planLine(command, batch);
  const isNew = state.entry === undefined;
  const job = { ...planned, price: isNew ? findPrice(batch.prices, planned) : state.credits };
  if (budget && isNew) await reserveCredits(budget, key, job);
  const context = {
    ...batch,
    target,
    readStdin: () => readBytes(system.stdin),
    say: (text: string) => output.note(`line ${line}: ${text}`),
    warn: (text: string) => output.warn(text),
  };
  let entry = state.entry;
  const onEntry = (id: string) => {
    entry = id;
    const { operation, price } = job;
    const facts = { entry, operation, digest, ...(price !== undefined && { credits: price }) };
    journal.change(key, facts, { durable: true });
  };
  const started = await breaker.retry(
    () => startTask(context, job, { choice: { known: entry }, batch: true, onEntry }),
    (error) => mayRepeat(error, target),
  );
  journal.change(key, { task_id: started.task.id });
  return started;
}

/** Whether a start may be retried: nothing was started, or the service is known to honour the idempotency key. */
function mayRepeat(error: unknown, { baseUrl }: Target): boolean {
  if (error instanceof ServiceError) return mayRepeatRequest(baseUrl === undefined, error);
  return error instanceof NetworkError && (error.sent === false || baseUrl === undefined);
}

async function finishJob(
  batch: BatchContext,
  command: ParsedCommand,
  { task, seen }: BegunJob,
): Promise<JobEnd> {
  const { flags } = command;
  const { services, ledger, signal, system, breaker } = batch;
  const destination = openDestination(system.cwd, flags, true, batch.claimed);
  // A batch shows counts, not the states of its tasks.
  const watch = { state: () => undefined, saved: batch.checkExtension };
  const context = {
    ...{ services, ledger, signal, now: system.now, watch, destination },
    ...readWaitFlags(flags, flags['off-peak'] === true),
  };
  const isUnreachable = (error: unknown) => toFailure(error).facts.exit === exitCodes.unreachable;
  const outcome = await breaker.retry(() => finishTask(context, task, seen), isUnreachable);
  const failure = outcome.failure && nameFailure(outcome.failure, command);
  if (!failure) return { status: 'done', outcome, isSaved: destination !== undefined };
  return { status: failure.facts.code === 'task_failed' ? 'failed' : 'running', outcome, failure };
}

const { usage, notFound, conflict, endedBadly } = exitCodes;
const REFUSALS: readonly number[] = [usage, notFound, conflict, endedBadly];

/** Decided: a refused job has failed. A job that was not sent or got no response is left for the next run. */
function chooseStatus(
  { ledger, journal }: BatchContext,
  { key }: WrittenJob,
  error: unknown,
  { facts }: Failure,
): JobStatus {
  const { entry: id } = journal.get(key);
  const entry = id === undefined ? undefined : ledger.read(id);
  // The ledger keeps no entry of a refused task.
  if (entry && entry.task_id === undefined) return 'unanswered';
  return error instanceof ServiceError && REFUSALS.includes(facts.exit) ? 'failed' : 'unsent';
}

function recordFailure({ signal, breaker }: BatchContext, command: ParsedCommand, error: unknown): Failure {
  signal.throwIfAborted();
  const failure = toFailure(error, command);
  breaker.record(failure);
  return nameFailure(failure, command);
}

/** Says which image a job is about, because its id may be a digest. */
function nameFailure(failure: Failure, { args }: ParsedCommand): Failure {
  const [image] = [args.image ?? args.images ?? []].flat();
  const isFile = image !== undefined && !/^(@|\w{2,}:)/.test(image);
  return isFile ? nameImage(image, failure) : failure;
}

function readCredits(outcome: TaskOutcome | undefined): number | undefined {
  const { credits } = (outcome?.answer ?? {}) as { credits?: unknown };
  return typeof credits === 'number' ? credits : undefined;
}
