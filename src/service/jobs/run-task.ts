import type { TaskRow } from '../database/schema.js';
import { stageResults } from '../generation/results.js';
import { createScratchFolder, getInputKey } from '../generation/task-files.js';
import { getTaskKind } from '../generation/task-inputs.js';
import { advanceTask, TASK_STATUSES } from '../generation/task-states.js';
import type { Context } from '../operation/context.js';
import { type Engine, EngineFailure, type EngineMemory, type EngineResult } from '../operation/engine.js';
import type { JobHandler } from '../queue/queue.js';

/** A task that crashes the process at every attempt must fail at some point. */
const MAX_ATTEMPTS = 10;
/** An engine that reports no progress for this long is aborted and retried. */
const SILENCE_MS = 15 * 60_000;

/** Runs a task to its end. Restarted after a crash, it generates everything again but stores it once. */
export function runTask(context: Context): JobHandler {
  return async ({ key: taskId, attempts }, signal) => {
    const task = await beginTask(context, taskId);
    if (!task) return;
    if (attempts >= MAX_ATTEMPTS) {
      const reason = `The task did not finish in ${attempts} attempts.`;
      await failTask(context, task, new EngineFailure(reason, { code: 'attempts_exhausted' }));
      return;
    }
    const folder = await createScratchFolder(context);
    try {
      await finishTask(context, task, await runEngine(context, task, folder.path, signal));
    } catch (error) {
      if (signal.aborted || !(error instanceof EngineFailure)) throw error;
      await failTask(context, task, error);
    } finally {
      await folder.remove();
    }
  };
}

type OpenTask = Pick<TaskRow, 'id' | 'operation' | 'request' | 'images' | 'seed'>;

/** @returns undefined if the task has already ended */
async function beginTask(context: Context, taskId: string): Promise<OpenTask | undefined> {
  return await context.database.transaction().execute(async (tx) => {
    const task = await tx
      .selectFrom('tasks')
      .select(['id', 'operation', 'status', 'request', 'images', 'seed'])
      .where('id', '=', taskId)
      .executeTakeFirst();
    if (!task) return undefined;
    const isRunning = task.status === TASK_STATUSES[getTaskKind(task.operation)].running;
    return isRunning || (await advanceTask(tx, context, task, { to: 'running' })) ? task : undefined;
  });
}

async function runEngine(
  context: Context,
  task: OpenTask,
  folder: string,
  signal: AbortSignal,
): Promise<EngineResult> {
  const engine: Engine = context.engines[getTaskKind(task.operation)];
  const fields: string[] = JSON.parse(task.images);
  const borrowed = await Promise.all(
    fields.map((field) => context.storage.borrow(getInputKey(task.id, field))),
  );
  const silence = watchSilence();
  try {
    const job = {
      id: task.id,
      operation: task.operation,
      request: JSON.parse(task.request),
      images: Object.fromEntries(fields.map((field, at) => [field, borrowed[at]?.path as string])),
      seed: Number(task.seed),
      folder,
    };
    const abort = AbortSignal.any([signal, silence.signal]);
    return await engine.run(job, abort, silence.reset, createMemory(context, task.id));
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    silence.end();
    for (const image of borrowed) await image.release();
  }
}

function createMemory({ database }: Context, taskId: string): EngineMemory {
  return {
    read: async () => {
      const row = await database
        .selectFrom('tasks')
        .select('memory')
        .where('id', '=', taskId)
        .executeTakeFirst();
      return row?.memory ?? undefined;
    },
    write: async (memory) => {
      await database
        .transaction()
        .execute((tx) => tx.updateTable('tasks').set({ memory }).where('id', '=', taskId).execute());
    },
  };
}

function watchSilence(): { signal: AbortSignal; reset(): void; end(): void } {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error('The engine stalled.')), SILENCE_MS);
  return { signal: abort.signal, reset: () => timer.refresh(), end: () => clearTimeout(timer) };
}

/** Makes results and status visible together. */
async function finishTask(context: Context, task: OpenTask, result: EngineResult): Promise<void> {
  const staged = await stageResults(context, task.id, result);
  try {
    await context.database.transaction().execute(async (tx) => {
      const { results } = staged;
      if (!(await advanceTask(tx, context, task, { to: 'done', results }))) return;
      // Last, so that hardly anything can fail after it; without its row the file is written again.
      await staged.commit();
    });
  } finally {
    await staged.discard();
  }
}

async function failTask(context: Context, task: OpenTask, { message, code }: EngineFailure): Promise<void> {
  await context.database
    .transaction()
    .execute((tx) => advanceTask(tx, context, task, { to: 'failed', reason: message, code }));
}
