import { randomUUID } from 'node:crypto';
import type { ImageTask } from '../../contract/image-task.js';
import type { Context, Tx } from '../context.js';
import type { Prepared } from '../http/handler.js';
import { Refused } from '../refused.js';
import { charge } from './credits.js';
import type { ImageOperation, TaskOperation, VideoOperation } from './engine.js';
import { type NewTask, newTask, withNames } from './new-task.js';
import { kindOf } from './operations.js';
import { advance, recordStatus, statuses } from './states.js';
import { type StartCall, type TakenInputs, takeInputs } from './take-inputs.js';
import { videoTask } from './video-task.js';
import { taskView } from './view.js';

/** How long the inputs of a task that did not come to be are kept. Milliseconds. */
const orphansMs = 60 * 60_000;

/** Answers the operation that starts an image task. */
export function startImage(operation: ImageOperation): (call: StartCall) => Promise<Prepared<ImageTask>> {
  return start(operation, (context, { id }) => taskView(context, { id, status: 'CREATED', results: null }));
}

/** Answers the operation that starts a video task. */
export function startVideo(
  operation: VideoOperation,
): (call: StartCall) => Promise<Prepared<ReturnType<typeof videoTask>>> {
  return start(operation, (_, task) => videoTask(task));
}

/** Images and videos are fetched and checked before there is a task. */
function start<Answer>(
  operation: TaskOperation,
  answer: (context: Context, task: NewTask) => Answer,
): (call: StartCall) => Promise<Prepared<Answer>> {
  return async (call) => {
    const { context } = call;
    await requireEngine(context, operation);
    const id = randomUUID();
    const inputs = await takeInputs(call, { id, operation });
    try {
      await promiseToForget(context, id);
    } catch (error) {
      await inputs.discard();
      throw error;
    }
    const write = async (tx: Tx) => {
      const task = newTask(call, id, operation);
      await create(tx, call, task, inputs);
      return answer(context, task);
    };
    return { write, end: inputs.discard };
  };
}

async function requireEngine({ engines }: Context, operation: TaskOperation): Promise<void> {
  const why = await engines[kindOf(operation)].unavailable?.();
  if (why !== undefined) throw new Refused('unavailable', why);
}

/** A crash between inputs and row would leave files that nothing names; the job looks for the row. */
async function promiseToForget({ database, queue, now }: Context, id: string): Promise<void> {
  const job = { kind: 'forget-inputs', key: id, runAt: now() + orphansMs };
  await database.transaction().execute((tx) => queue.enqueue(tx, job));
}

/** Task, charge, history and jobs come to be together. */
async function create(tx: Tx, call: StartCall, task: NewTask, inputs: TakenInputs): Promise<void> {
  const { context, caller } = call;
  const { id, operation, seed, createdAt } = task;
  const { webhook_url, callback_url, ...fields } = task.request;
  const creator = caller.userId as string;
  const { created: status } = statuses[kindOf(operation)];
  await tx
    .insertInto('tasks')
    .values({
      id,
      operation,
      creator,
      status,
      request: JSON.stringify(withNames(operation, fields)),
      images: JSON.stringify(inputs.names),
      seed,
      webhook_url: ((webhook_url ?? callback_url) as string | undefined) ?? null,
      results: null,
      reason: null,
      error_code: null,
      memory: null,
      created_at: createdAt,
    })
    .execute();
  await charge(tx, { taskId: id, userId: creator, amount: task.credits, now: context.now() });
  await recordStatus(tx, context.now, { taskId: id, status, actor: creator });
  await enqueue(tx, context, task);
  // Last, so that hardly anything can fail after it.
  await inputs.commit();
}

async function enqueue(tx: Tx, context: Context, { id, operation, request }: NewTask): Promise<void> {
  const { queue, now, configuration } = context;
  const kind = kindOf(operation);
  // What is due at once comes before what is due since a time: off-peak tasks take what the others leave.
  const later = request.off_peak ? { runAt: now() } : {};
  await queue.enqueue(tx, { kind: `run-${kind}-task`, key: id, ...later });
  if (kind === 'video') await advance(tx, context, { id, operation }, { to: 'queued' });
  if (!request.off_peak) return;
  const runAt = now() + configuration.limits.offPeakSeconds * 1000;
  await queue.enqueue(tx, { kind: 'expire-task', key: id, runAt });
}
