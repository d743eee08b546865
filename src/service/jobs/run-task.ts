import type { Selectable } from 'kysely';
import type { Context } from '../context.js';
import type { TaskTable } from '../database/schema.js';
import { type Engine, EngineFailure, type EngineMemory, type EngineResult } from '../generation/engine.js';
import { inputKey, scratchFolder } from '../generation/files.js';
import { kindOf } from '../generation/operations.js';
import { stageResults } from '../generation/results.js';
import { advance, statuses } from '../generation/states.js';
import type { Work } from '../queue/queue.js';

/** A task that ends the process each time it is begun must not do so forever. */
const mostAttempts = 10;
/** An engine that shows no sign of life for so long is stopped, and begun again later. Milliseconds. */
const silenceMs = 15 * 60_000;

/** Takes a new task to its end. Begun again after a crash, it makes everything anew and keeps it once. */
export function runTask(context: Context): Work {
  return async ({ key: taskId, attempts }, signal) => {
    const task = await begin(context, taskId);
    if (!task) return;
    if (attempts >= mostAttempts) {
      const reason = `It did not come to an end in ${attempts} attempts.`;
      await giveUp(context, task, new EngineFailure(reason, { code: 'attempts_exhausted' }));
      return;
    }
    const folder = await scratchFolder(context);
    try {
      await finish(context, task, await make(context, task, folder.path, signal));
    } catch (error) {
      if (signal.aborted || !(error instanceof EngineFailure)) throw error;
      await giveUp(context, task, error);
    } finally {
      await folder.remove();
    }
  };
}

type Task = Pick<Selectable<TaskTable>, 'id' | 'operation' | 'request' | 'images' | 'seed'>;

/** @returns undefined where the task has ended already */
async function begin(context: Context, taskId: string): Promise<Task | undefined> {
  return await context.database.transaction().execute(async (tx) => {
    const task = await tx
      .selectFrom('tasks')
      .select(['id', 'operation', 'status', 'request', 'images', 'seed'])
      .where('id', '=', taskId)
      .executeTakeFirst();
    if (!task) return undefined;
    const isRunning = task.status === statuses[kindOf(task.operation)].running;
    return isRunning || (await advance(tx, context, task, { to: 'running' })) ? task : undefined;
  });
}

async function make(
  context: Context,
  task: Task,
  folder: string,
  signal: AbortSignal,
): Promise<EngineResult> {
  const engine: Engine = context.engines[kindOf(task.operation)];
  const fields: string[] = JSON.parse(task.images);
  const borrowed = await Promise.all(fields.map((field) => context.storage.borrow(inputKey(task.id, field))));
  const silence = silenceWatch();
  try {
    const job = {
      id: task.id,
      operation: task.operation,
      request: JSON.parse(task.request),
      images: Object.fromEntries(fields.map((field, at) => [field, borrowed[at]?.path as string])),
      seed: Number(task.seed),
      folder,
    };
    const ending = AbortSignal.any([signal, silence.signal]);
    return await engine.run(job, ending, silence.sign, memoryOf(context, task.id));
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    silence.end();
    for (const image of borrowed) await image.release();
  }
}

function memoryOf({ database }: Context, taskId: string): EngineMemory {
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

function silenceWatch(): { signal: AbortSignal; sign(): void; end(): void } {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error('The engine was silent for too long.')), silenceMs);
  return { signal: abort.signal, sign: () => timer.refresh(), end: () => clearTimeout(timer) };
}

/** Results and status become visible together. */
async function finish(context: Context, task: Task, made: EngineResult): Promise<void> {
  const staged = await stageResults(context, task.id, made);
  try {
    await context.database.transaction().execute(async (tx) => {
      const { results } = staged;
      if (!(await advance(tx, context, task, { to: 'done', results }))) return;
      // Last, so that hardly anything can fail after it; a file whose row is not committed is written once more.
      await staged.commit();
    });
  } finally {
    await staged.discard();
  }
}

async function giveUp(context: Context, task: Task, { message, code }: EngineFailure): Promise<void> {
  await context.database
    .transaction()
    .execute((tx) => advance(tx, context, task, { to: 'failed', reason: message, code }));
}
