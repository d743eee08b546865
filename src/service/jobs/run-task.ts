import { countRows, findRow, getRow, updateRows } from '../database/database.js';
import type { TaskRow } from '../database/schema.js';
import { recordVendorCredits } from '../generation/credits.js';
import { storeResults } from '../generation/results.js';
import { getInputKey, getTaskKind } from '../generation/task-files.js';
import { ACTIVE_STATUSES, advanceTask, TASK_STATUSES } from '../generation/task-states.js';
import { removeUnusedFiles } from '../generation/unused-files.js';
import type { Context } from '../operation/context.js';
import {
  EngineFailure,
  type EngineMemory,
  type EngineResult,
  type EngineWait,
  getEngine,
  getJobKinds,
  TaskEnded,
} from '../operation/engine.js';
import { createScratchFolder } from '../operation/scratch-folder.js';
import { type JobHandler, LeaseLost, RunAgain, type RunningJob } from '../queue/queue.js';

/** A task that crashes the process at every attempt must fail at some point. */
const MAX_ATTEMPTS = 10;
/** An engine that reports no progress for this long is aborted and retried. */
const SILENCE_MS = 15 * 60_000;

/** Runs a task to its end. Restarted after a crash, it generates everything again but stores it once. */
export function runTask(context: Context): JobHandler {
  const readPause = createPace(context);
  return async (job, signal) => {
    const { kind, key: taskId, attempts } = job;
    const task = await beginTask(context, job);
    // A crash may have left its inputs, or results of an attempt that ended after the task.
    if (!task) return removeUnusedFiles(context, taskId);
    if (attempts >= MAX_ATTEMPTS) {
      const reason = `The task did not finish in ${attempts} attempts.`;
      await failTask(
        context,
        job,
        task,
        new EngineFailure(reason, { code: 'attempts_exhausted', mayBeCharged: true }),
      );
      return;
    }
    const kinds = getJobKinds(context.configuration, task.operation);
    const { isRemote, looksPerMinute } = getEngine(context, task.operation);
    const isWatched = isRemote === true && kind === kinds.watch;
    // The configuration names another engine than before.
    if (!isWatched && kind !== kinds.run) return enqueueTask(context, job, task, { kind: kinds.run });
    const folder = createScratchFolder(context);
    try {
      const outcome = await runEngine(context, task, { job, folder: folder.path, isWatched }, signal);
      if ('files' in outcome) return await finishTask(context, job, task, outcome);
      const pauseMs = outcome.isStarted ? await readPause(kinds.watch, looksPerMinute) : 0;
      const runAt = context.now() + Math.max(outcome.waitMs, pauseMs);
      const next = outcome.isStarted ? kinds.watch : kinds.run;
      if (kind === next) throw new RunAgain(runAt);
      await enqueueTask(context, job, task, { kind: next, runAt, isStarted: outcome.isStarted });
    } catch (error) {
      // What ended it has enqueued the removal of its files.
      if (error instanceof TaskEnded) return;
      if (signal.aborted || !(error instanceof EngineFailure)) throw error;
      await failTask(context, job, task, error);
    } finally {
      await folder.remove();
    }
  };
}

/** Looks at the tasks of a kind at vendors, by all services together. With more tasks, each waits longer. */
const LOOKS_PER_MINUTE = 3000;
/** How long a count of the tasks is used. */
const COUNTED_MS = 5_000;

/** @returns reads how long a task of a kind waits for its next look at least, in milliseconds */
function createPace({ database, now }: Context): (kind: string, looksPerMinute?: number) => Promise<number> {
  const pauses = new Map<string, { readonly at: number; readonly ms: number }>();
  return async (kind, looksPerMinute = LOOKS_PER_MINUTE) => {
    const known = pauses.get(kind);
    if (known && now() - known.at < COUNTED_MS) return known.ms;
    const waiting = await countRows(database.selectFrom('jobs').where('kind', '=', kind));
    const ms = (waiting / looksPerMinute) * 60_000;
    pauses.set(kind, { at: now(), ms });
    return ms;
  };
}

interface OpenTask
  extends Pick<TaskRow, 'id' | 'operation' | 'creator' | 'request' | 'images' | 'seed' | 'callback'> {
  readonly ranBefore: boolean;
}

/** @returns undefined if the task has already ended */
async function beginTask(context: Context, { kind, key, commit }: RunningJob): Promise<OpenTask | undefined> {
  const { database } = context;
  // Looks are frequent, and need no turn among the transactions: their tasks run already.
  if (kind.startsWith('watch-')) {
    const watched = await findRow(database, 'tasks', { id: key, status: ACTIVE_STATUSES });
    return watched && { ...watched, ranBefore: true };
  }
  return await commit(async (tx) => {
    const task = await findRow(tx, 'tasks', { id: key, status: ACTIVE_STATUSES });
    if (!task) return undefined;
    const ranBefore = task.status === TASK_STATUSES[getTaskKind(task.operation)].running;
    // Decided: a task that runs elsewhere is in progress once it was taken there; until then it is queued.
    if (!getEngine(context, task.operation).isRemote) await advanceTask(tx, context, task, { to: 'running' });
    return { ...task, ranBefore };
  });
}

/** @param runAt a callback since the job began makes it due at once */
async function enqueueTask(
  context: Context,
  { commit }: RunningJob,
  task: OpenTask,
  {
    kind,
    runAt,
    isStarted,
  }: { readonly kind: string; readonly runAt?: number; readonly isStarted?: boolean },
): Promise<void> {
  const { queue } = context;
  const { id, creator, callback } = task;
  await commit(async (tx) => {
    if (isStarted) await advanceTask(tx, context, task, { to: 'running' });
    const now = await getRow(tx, 'tasks', { id });
    const isDue = runAt === undefined || now.callback !== callback;
    await queue.enqueue(tx, { kind, key: id, owner: creator, ...(!isDue && { runAt }) });
  });
}

async function runEngine(
  context: Context,
  task: OpenTask,
  {
    job: { commit },
    folder,
    isWatched,
  }: { readonly job: RunningJob; readonly folder: string; readonly isWatched: boolean },
  signal: AbortSignal,
): Promise<EngineResult | EngineWait> {
  const engine = getEngine(context, task.operation);
  const fields: string[] = isWatched && !engine.needsImages ? [] : JSON.parse(task.images);
  const borrowed = await Promise.all(
    fields.map((field) => context.storage.borrow(getInputKey(task.id, field))),
  );
  const silence = watchSilence();
  const end = watchEnd(context, task);
  let begun: Promise<void> | undefined;
  const onProgress = () => {
    silence.reset();
    if (engine.isRemote && !task.ranBefore) begun ??= beginElsewhere(context, task, commit);
  };
  try {
    const job = {
      id: task.id,
      operation: task.operation,
      request: JSON.parse(task.request),
      images: Object.fromEntries(fields.map((field, at) => [field, borrowed[at]?.path as string])),
      seed: Number(task.seed),
      folder,
    };
    const abort = AbortSignal.any([signal, silence.signal, end.signal]);
    return await engine.run(job, abort, onProgress, createMemory(context, task, commit));
  } catch (error) {
    throw [end, silence].find((watch) => watch.signal.aborted)?.signal.reason ?? error;
  } finally {
    silence.end();
    end.end();
    for (const image of borrowed) await image.release();
    await begun;
  }
}

/** A task that runs elsewhere is in progress. */
async function beginElsewhere(context: Context, task: OpenTask, commit: RunningJob['commit']): Promise<void> {
  await commit((tx) => advanceTask(tx, context, task, { to: 'running' })).catch((error) =>
    context.log('warn', 'A task was not shown as running.', { task: task.id, error: String(error) }),
  );
}

function createMemory(
  { database, now }: Context,
  { id }: OpenTask,
  commit: RunningJob['commit'],
): EngineMemory {
  return {
    read: async () => {
      const row = await findRow(database, 'tasks', { id });
      return row?.memory ?? undefined;
    },
    write: (memory, isAsked, vendorCredits) =>
      commit(async (tx) => {
        const task = await findRow(tx, 'tasks', { id, status: ACTIVE_STATUSES });
        // What a cancelled task has cost is settled, so no vendor may be asked for it any more.
        if (!task) throw new TaskEnded('The task was ended.');
        const asked_at = isAsked ? (task.asked_at ?? new Date(now()).toISOString()) : null;
        await updateRows(tx, 'tasks', { id }, { memory, asked_at });
        if (vendorCredits !== undefined) await recordVendorCredits(tx, id, vendorCredits);
      }),
  };
}

/** How often a running task is looked at: another process may have ended it. */
const LOOK_MS = 1000;

/** Aborts when a running task has been ended. */
function watchEnd({ database, log }: Context, { id }: OpenTask): { signal: AbortSignal; end(): void } {
  const abort = new AbortController();
  const look = async () => {
    const row = await findRow(database, 'tasks', { id, status: ACTIVE_STATUSES });
    if (!row) abort.abort(new TaskEnded('The task was ended.'));
  };
  const timer = setInterval(() => {
    look().catch((error) =>
      log('warn', 'Could not look at a running task.', { taskId: id, error: String(error) }),
    );
  }, LOOK_MS);
  return { signal: abort.signal, end: () => clearInterval(timer) };
}

function watchSilence(): { signal: AbortSignal; reset(): void; end(): void } {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error('The engine stalled.')), SILENCE_MS);
  return { signal: abort.signal, reset: () => timer.refresh(), end: () => clearTimeout(timer) };
}

/** Makes results and status visible together. */
async function finishTask(
  context: Context,
  { commit }: RunningJob,
  task: OpenTask,
  result: EngineResult,
): Promise<void> {
  // A crash from here on may leave results, so that the next run must know of this one.
  if (!task.ranBefore && getEngine(context, task.operation).isRemote)
    await commit((tx) => advanceTask(tx, context, task, { to: 'running' }));
  const results = await storeResults(context, task.id, result);
  const isDone = await commit((tx) =>
    advanceTask(tx, context, task, { to: 'done', results }, { removesInputs: true }),
  ).catch(async (error) => {
    if (error instanceof LeaseLost) await removeUnusedFiles(context, task.id);
    throw error;
  });
  // Only a run before this one may have left results.
  if (!isDone || task.ranBefore) return removeUnusedFiles(context, task.id);
  for (const field of JSON.parse(task.images)) await context.storage.remove(getInputKey(task.id, field));
}

async function failTask(
  context: Context,
  { commit }: RunningJob,
  task: OpenTask,
  { message, code, mayBeCharged }: EngineFailure,
): Promise<void> {
  const cause = mayBeCharged ? 'service' : 'maker';
  const step = { to: 'failed', reason: message, code, cause } as const;
  await commit((tx) => advanceTask(tx, context, task, step, { removesInputs: true }));
  await removeUnusedFiles(context, task.id);
}
