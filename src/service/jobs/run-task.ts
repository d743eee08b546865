import type { Selectable } from 'kysely';
import type { Context } from '../context.js';
import type { TaskTable } from '../database/schema.js';
import { type Engine, EngineFailure, type EngineResult, type ImageOperation } from '../generation/engine.js';
import { inputKey, scratchFolder } from '../generation/files.js';
import { stageResults } from '../generation/results.js';
import { advance } from '../generation/states.js';
import type { Work } from '../queue/queue.js';

/** A task that ends the process each time it is begun must not do so forever. */
const mostAttempts = 10;
/** An engine that shows no sign of life for so long is stopped, and begun again later. Milliseconds. */
const silenceMs = 15 * 60_000;

/** Takes a task from CREATED to its end. Begun again after a crash, it makes everything anew and keeps it once. */
export function runTask(context: Context, engine: Engine): Work {
  return async ({ key: taskId, attempts }, signal) => {
    const task = await begin(context, taskId);
    if (!task) return;
    if (attempts >= mostAttempts) {
      await giveUp(context, taskId, `It did not come to an end in ${attempts} attempts.`);
      return;
    }
    const folder = await scratchFolder(context);
    try {
      await finish(context, task, await make(context, engine, task, folder.path, signal));
    } catch (error) {
      if (signal.aborted || !(error instanceof EngineFailure)) throw error;
      await giveUp(context, taskId, error.message);
    } finally {
      await folder.remove();
    }
  };
}

type Task = Pick<Selectable<TaskTable>, 'id' | 'operation' | 'request' | 'images' | 'seed'>;

/** @returns undefined where the task has ended already */
async function begin(context: Context, taskId: string): Promise<Task | undefined> {
  return await context.database.transaction().execute(async (tx) => {
    await advance(tx, context, taskId, { to: 'IN_PROGRESS' });
    return await tx
      .selectFrom('tasks')
      .select(['id', 'operation', 'request', 'images', 'seed'])
      .where('id', '=', taskId)
      .where('status', '=', 'IN_PROGRESS')
      .executeTakeFirst();
  });
}

async function make(
  context: Context,
  engine: Engine,
  task: Task,
  folder: string,
  signal: AbortSignal,
): Promise<EngineResult> {
  const fields: string[] = JSON.parse(task.images);
  const borrowed = await Promise.all(fields.map((field) => context.storage.borrow(inputKey(task.id, field))));
  const silence = silenceWatch();
  try {
    const job = {
      operation: task.operation as ImageOperation,
      request: JSON.parse(task.request),
      images: Object.fromEntries(fields.map((field, at) => [field, borrowed[at]?.path as string])),
      seed: Number(task.seed),
      folder,
    };
    return await engine.run(job, AbortSignal.any([signal, silence.signal]), silence.sign);
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    silence.end();
    for (const image of borrowed) await image.release();
  }
}

function silenceWatch(): { signal: AbortSignal; sign(): void; end(): void } {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error('The engine was silent for too long.')), silenceMs);
  return { signal: abort.signal, sign: () => timer.refresh(), end: () => clearTimeout(timer) };
}

/** Results and status become visible together. */
async function finish(context: Context, { id }: Task, made: EngineResult): Promise<void> {
  const staged = await stageResults(context, id, made);
  try {
    await context.database.transaction().execute(async (tx) => {
      const { results } = staged;
      if (!(await advance(tx, context, id, { to: 'COMPLETED', results }))) return;
      // Last, so that hardly anything can fail after it; a file whose row is not committed is written once more.
      await staged.commit();
    });
  } finally {
    await staged.discard();
  }
}

async function giveUp(context: Context, taskId: string, reason: string): Promise<void> {
  await context.database
    .transaction()
    .execute((tx) => advance(tx, context, taskId, { to: 'FAILED', reason }));
}
