import { sql } from 'kysely';
import type { z } from 'zod';
import type { ImageTask } from '../../contract/image-task.js';
import { getOperation } from '../../contract/index.js';
import type { TaskAccount } from '../../contract/task.js';
import type { VideoCreations, VideoState, VideoTask } from '../../contract/video.js';
import { countRows, type Database } from '../database/database.js';
import type { TaskRow } from '../database/schema.js';
import type { TaskStatus } from '../database/task-tables.js';
import { listPreviews } from '../engines/describe-engines.js';
import type { Handlers, Read } from '../operation/call.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import type { ImageOperation } from '../operation/engine.js';
import { countPages, requireReachablePage } from '../operation/paging.js';
import { createTaskUrl } from '../operation/signed-urls.js';
import { sumCredits } from './credits.js';
import type { NewTask } from './new-task.js';
import { listCreations, parseResults } from './results.js';
import { getVisibleTask, readLinkedResults } from './task-access.js';
import { getTaskKind } from './task-files.js';
import { ACTIVE_STATUSES, TASK_STATUSES } from './task-states.js';

type Creations = z.output<typeof VideoCreations>;

/** An image task in the form of the contract, with fresh URLs of its results. */
export function viewImageTask(
  context: Context,
  { id, status, results }: Pick<TaskRow, 'id' | 'status' | 'results'>,
): ImageTask {
  return {
    generated: parseResults(results).map(({ name }) => createTaskUrl(context, 'result', id, name)),
    status,
    task_id: id,
  };
}

/** Why a task failed; nothing of others. */
function viewFailure({ reason, error_code }: Pick<TaskRow, 'reason' | 'error_code'>) {
  return { ...(error_code !== null && { err_code: error_code }), ...(reason !== null && { reason }) };
}

/** A video task in the form of the contract, with its creations. */
async function viewCreations(
  context: Context,
  database: Database,
  { id, status, request, results, error_code }: Omit<TaskRow, 'operation'>,
): Promise<Creations> {
  const { payload = '', watermark } = JSON.parse(request);
  const toUrl = (name: string) => createTaskUrl(context, 'result', id, name);
  const isFailed = status === TASK_STATUSES.video.failed;
  return {
    id,
    state: status as z.output<typeof VideoState>,
    err_code: isFailed ? (error_code ?? '') : '',
    // An earlier change of a task that has failed by now is delivered as it was.
    credits: await sumCredits(database, id, { isBeforeRefund: !isFailed }),
    payload,
    creations: listCreations(id, parseResults(results)).map((creation) => ({
      id: creation.id,
      url: toUrl(creation.video.name),
      cover_url: creation.cover ? toUrl(creation.cover.name) : '',
      // Decided: a watermark is part of the video, without a separate file; empty if none was requested.
      watermarked_url: watermark ? toUrl(creation.video.name) : '',
    })),
  };
}

interface TaskCall {
  readonly params: { readonly task_id: string };
  readonly caller: Caller;
  readonly context: Context;
}

/** Creates the handler that reads the tasks that `operation` starts. */
function readImageTask<Answer>(
  operation: ImageOperation,
  wrap: (task: ImageTask) => Answer,
): (call: TaskCall, database: Database) => Promise<Answer> {
  return async (call, database) => {
    const task = await getVisibleTask(call, database, (one) => one === operation);
    return wrap({ ...viewImageTask(call.context, task), ...viewFailure(task) });
  };
}

const getCreations: Read<'video.creations'> = async (call, database) => {
  const task = await getVisibleTask(call, database, (operation) => getTaskKind(operation) === 'video');
  return { ...(await viewCreations(call.context, database, task)), ...viewFailure(task) };
};

/** Answers `task.get`: status and credits of a task of any kind. */
const getAccount: Read<'task.get'> = async (call, database) => {
  return viewAccount(database, await getVisibleTask(call, database));
};

/** Answers `task.list`: of an API key, those of its program. */
const listTasks: Read<'task.list'> = async ({ query, caller, context }, database) => {
  const { page, limit, key_id, state } = query;
  const offset = requireReachablePage(query);
  const isKey = caller.kind === 'api_key';
  const keysOfProgram = database
    .selectFrom('api_keys')
    .where('user_id', '=', caller.userId as string)
    .where('name', '=', caller.keyName ?? '')
    .select('id');
  const own = database
    .selectFrom('tasks')
    .where('creator', '=', caller.userId as string)
    .$if(isKey, (all) => all.where('key_id', 'in', keysOfProgram))
    .$if(key_id !== undefined, (all) => all.where('key_id', '=', key_id as string))
    .$if(state === 'unfinished', (all) => all.where('status', 'in', ACTIVE_STATUSES))
    // The token of a publisher sees none.
    .$if(caller.kind === 'personal_access_token', (all) => all.where(sql<boolean>`1 = 0`));
  const rows = await own
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  const tasks = await Promise.all(
    rows.map(async (task) => {
      const results = parseResults(readLinkedResults(context, task));
      const account = await viewAccount(database, task);
      return {
        ...account,
        results: results.map(({ name }) => createTaskUrl(context, 'result', task.id, name)),
      };
    }),
  );
  const total = await countRows(own);
  return { limit, page, tasks, total, totalPages: countPages(total, limit) };
};

export async function viewAccount(database: Database, task: TaskRow): Promise<z.output<typeof TaskAccount>> {
  const [credits, charged] = await Promise.all([
    sumCredits(database, task.id),
    sumCredits(database, task.id, { isBeforeRefund: true }),
  ]);
  return {
    task_id: task.id,
    operation: task.operation,
    status: task.status,
    credits,
    refunded: charged - credits,
    seed: Number(task.seed),
    ...viewFailure(task),
    created_at: task.created_at,
  };
}

/** The webhook body for a task that reached this status, with fresh URLs of its results. */
export async function buildWebhookBody(context: Context, task: TaskRow, status: TaskStatus): Promise<object> {
  const kind = getTaskKind(task.operation);
  const isDone = status === TASK_STATUSES[kind].done;
  const atStatus = { ...task, status, results: isDone ? readLinkedResults(context, task) : null };
  return kind === 'image'
    ? viewImageTask(context, atStatus)
    : viewCreations(context, context.database, atStatus);
}

/** A new video task as answered at its start: the request with its defaults. */
export function viewNewVideoTask({
  id,
  operation,
  request,
  seed,
  credits,
  createdAt,
}: NewTask): z.output<typeof VideoTask> {
  const { images, ...fields } = request as { images?: string[] };
  const schema = getOperation(operation).response as typeof VideoTask;
  // Parsing drops the fields that the answer does not have.
  return schema.parse({
    ...fields,
    // Decided: images are returned only if all are URLs, so that answers do not repeat megabytes of Base64.
    ...(images?.every((image) => /^https?:/i.test(image)) && { images }),
    seed,
    task_id: id,
    state: 'created',
    credits,
    created_at: createdAt,
  });
}

// service.md answers most image tasks as { data: task }, and those of style transfer unwrapped.
const wrapTask = (data: ImageTask) => ({ data });

export const taskViewHandlers = {
  'image.relightStatus': { read: readImageTask('image.relight', wrapTask) },
  'image.styleTransferStatus': { read: readImageTask('image.styleTransfer', (task) => task) },
  'image.skinEnhancerStatus': { read: readImageTask('image.skinEnhancer', wrapTask) },
  'image.upscalerStatus': { read: readImageTask('image.upscaler', wrapTask) },
  'video.creations': { read: getCreations },
  'video.prices': {
    read: async ({ context: { configuration } }) => ({
      ...configuration.prices,
      previews: listPreviews(configuration),
    }),
  },
  'task.get': { read: getAccount },
  'task.list': { read: listTasks },
} satisfies Partial<Handlers>;
