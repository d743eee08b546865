import { randomUUID } from 'node:crypto';
import type { ImageTask } from '../../contract/image-task.js';
import { getTaskFacts, type TaskOperation } from '../../contract/index.js';
import { insertRow, type Tx } from '../database/database.js';
import { AddressRefused, refuseLiteral } from '../network/guarded-agent.js';
import type { Handlers, PreparedWrite } from '../operation/call.js';
import { type Context, getOwnOrigin } from '../operation/context.js';
import { getEngine, getJobKinds } from '../operation/engine.js';
import { requireTaskQuota, reserveTask, type TaskDemand } from '../operation/quota.js';
import { invalidField, Refused } from '../operation/refused.js';
import { invalidRequest } from '../operation/validation.js';
import { prepareCancel } from './cancel-task.js';
import { chargeCredits, requireBudget, type Spending } from './credits.js';
import { type NewTask, replaceImages, toNewTask } from './new-task.js';
import { type StartCall, stageInputs } from './stage-inputs.js';
import { getTaskKind } from './task-files.js';
import { advanceTask, recordTaskStatus, TASK_STATUSES } from './task-states.js';
import { viewImageTask, viewNewVideoTask } from './task-views.js';
import { removeUnusedFiles } from './unused-files.js';

/** When the inputs of a task that was not created, because the process ended, are removed. */
const ORPHANS_KEPT_MS = 60 * 60_000;

/** Creates the handler that starts a task. It fetches and checks images and videos before the task is created. */
function prepareTask<Answer>(
  operation: TaskOperation,
  answer: (task: NewTask, context: Context) => Answer,
): (call: StartCall) => Promise<PreparedWrite<Answer>> {
  return async (call) => {
    const { context } = call;
    await requireEngine(context, operation, call.body);
    refuseWebhook(call);
    const id = randomUUID();
    const { credits } = toNewTask(call, id, operation);
    // Before images are fetched; it counts when the task is charged.
    await requireBudget(context.database, context, { ...readSpender(call), amount: credits });
    const { reservations } = context;
    const reservation = await beginPreparation(call, id);
    const cancel = () => reservation && reservations.cancel(reservation);
    const inputs = await stageInputs(call, { id, operation }).catch(async (error) => {
      await cancel();
      throw error;
    });
    const write = async (tx: Tx) => {
      if (reservation) await reservations.end(tx, reservation);
      // Again, because webhooks may have been sent during the preparation.
      await requireTaskQuota(tx, context, toTaskDemand(call));
      const task = toNewTask(call, id, operation);
      await createTask(tx, call, task, inputs);
      return answer(task, context);
    };
    const undo = async () => {
      await cancel();
      await removeUnusedFiles(context, id);
    };
    return { write, undo, end: () => reservation && reservations.forget(reservation) };
  };
}

/** Refuses what would be refused at every delivery. */
function refuseWebhook({ body, context }: StartCall): void {
  for (const field of ['webhook_url', 'callback_url']) {
    const url = body[field];
    if (typeof url !== 'string') continue;
    try {
      refuseLiteral(new URL(url), getOwnOrigin(context, 'webhooks'));
    } catch (error) {
      throw error instanceof AddressRefused ? invalidField(field, `is refused: ${error.message}`) : error;
    }
  }
}

function toTaskDemand({ caller, body }: StartCall): TaskDemand {
  const hasWebhook = (body.webhook_url ?? body.callback_url) !== undefined;
  return { userId: caller.userId as string, hasWebhook };
}

function readSpender({ caller }: StartCall): Pick<Spending, 'userId' | 'keyId'> {
  return {
    userId: caller.userId as string,
    keyId: caller.kind === 'api_key' ? caller.tokenId : undefined,
  };
}

/** @throws Refused not_supported, unavailable; invalid_request for options that the engine does not have */
async function requireEngine(
  context: Context,
  operation: TaskOperation,
  body: StartCall['body'],
): Promise<void> {
  const engine = getEngine(context, operation);
  await engine.requireReady?.(operation);
  const problems = engine.checkRequest ? engine.checkRequest(operation, body) : [];
  const { noun } = getTaskFacts(operation);
  if (problems === undefined)
    throw new Refused('not_supported', `This service does not have this operation (${noun}).`);
  if (problems.length > 0) throw invalidRequest(problems, 'body');
}

/**
 * Counts the task for the user's quota. The job removes inputs without a row, which a crash between storing inputs and row
 * would leave.
 * @returns its reservation, unless the user has no quotas
 * @throws Refused quota_exceeded
 */
async function beginPreparation(call: StartCall, id: string): Promise<string | undefined> {
  const { context, caller } = call;
  const { database, queue, now, reservations } = context;
  const owner = caller.userId as string;
  const job = { kind: 'forget-inputs', key: id, owner, runAt: now() + ORPHANS_KEPT_MS };
  const reservation = await database.transaction().execute(async (tx) => {
    const id = await reserveTask(tx, context, toTaskDemand(call));
    await queue.enqueue(tx, job);
    return id;
  });
  if (reservation) reservations.keep(reservation);
  return reservation;
}

/** Creates task, charge, history and jobs in one transaction. */
async function createTask(tx: Tx, call: StartCall, task: NewTask, inputs: readonly string[]): Promise<void> {
  const { context } = call;
  const { id, operation, request, seed, createdAt: created_at } = task;
  const { webhook_url, callback_url, ...fields } = request;
  const kind = getTaskKind(operation);
  const { created: status } = TASK_STATUSES[kind];
  const spender = readSpender(call);
  const owner = spender.userId;
  await insertRow(tx, 'tasks', {
    ...{ id, operation, creator: owner, key_id: spender.keyId ?? null, status, seed, created_at },
    request: JSON.stringify(replaceImages(operation, fields)),
    images: JSON.stringify(inputs),
    webhook_url: ((webhook_url ?? callback_url) as string | undefined) ?? null,
  });
  const model = request.model as string | undefined;
  await chargeCredits(tx, context, { ...spender, taskId: id, amount: task.credits, operation, model });
  await recordTaskStatus(tx, context.now, {
    taskId: id,
    status,
    actor: { userId: owner, tokenId: spender.keyId },
  });
  const { queue, now, configuration } = context;
  const isOffPeak = request.off_peak === true;
  await queue.enqueue(tx, {
    kind: getJobKinds(configuration, operation).run,
    key: id,
    owner,
    last: isOffPeak,
  });
  if (kind === 'video') await advanceTask(tx, context, task, { to: 'queued' });
  const runAt = now() + configuration.limits.offPeakSeconds * 1000;
  if (isOffPeak) await queue.enqueue(tx, { kind: 'expire-task', key: id, owner, runAt });
}

function viewNewImageTask({ id }: NewTask, context: Context): ImageTask {
  return viewImageTask(context, { id, status: 'CREATED', results: null });
}

// service.md answers most image tasks as { data: task }, and those of style transfer unwrapped.
const viewWrapped = (task: NewTask, context: Context) => ({ data: viewNewImageTask(task, context) });

export const taskHandlers = {
  'image.relight': { prepare: prepareTask('image.relight', viewWrapped) },
  'image.styleTransfer': { prepare: prepareTask('image.styleTransfer', viewNewImageTask) },
  'image.skinEnhancer': { prepare: prepareTask('image.skinEnhancer', viewWrapped) },
  'image.upscaler': { prepare: prepareTask('image.upscaler', viewWrapped) },
  'video.text2video': { prepare: prepareTask('video.text2video', viewNewVideoTask) },
  'video.startEnd2video': { prepare: prepareTask('video.startEnd2video', viewNewVideoTask) },
  'video.extend': { prepare: prepareTask('video.extend', viewNewVideoTask) },
  'task.cancel': { prepare: prepareCancel },
} satisfies Partial<Handlers>;
