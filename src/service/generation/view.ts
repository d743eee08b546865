import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { ImageTask } from '../../contract/image-task.js';
import type { VideoCreations, VideoState } from '../../contract/video.js';
import type { Context, Database } from '../context.js';
import type { TaskTable } from '../database/schema.js';
import type { Caller } from '../http/authenticate.js';
import { resultUrl } from '../http/signed-urls.js';
import { creationsIn } from './creations.js';
import { creditsOf } from './credits.js';
import type { ImageOperation } from './engine.js';
import { kindOf } from './operations.js';
import { resultsOf } from './results.js';
import { statuses } from './states.js';
import { visibleTask } from './visible.js';

type Task = Selectable<TaskTable>;

/** An image task as the contract spells it; the addresses of its results are made for this answer. */
export function taskView(
  context: Context,
  { id, status, results }: Pick<Task, 'id' | 'status' | 'results'>,
): ImageTask {
  return {
    generated: resultsOf(results).map(({ name }) => resultUrl(context, { taskId: id, name })),
    status,
    task_id: id,
  };
}

/** A video task as the contract spells it, and what it has made. */
export async function creationsView(
  context: Context,
  database: Database,
  { id, status, request, results, error_code }: Omit<Task, 'operation'>,
): Promise<z.output<typeof VideoCreations>> {
  const { payload = '', watermark } = JSON.parse(request);
  const urlOf = (name: string) => resultUrl(context, { taskId: id, name });
  return {
    id,
    state: status as z.output<typeof VideoState>,
    err_code: status === statuses.video.failed ? (error_code ?? '') : '',
    credits: await creditsOf(database, id),
    payload,
    creations: creationsIn(id, resultsOf(results)).map((creation) => ({
      id: creation.id,
      url: urlOf(creation.video.name),
      cover_url: creation.cover ? urlOf(creation.cover.name) : '',
      // Decided: a watermark is in the video itself, there is no other file; empty where none was asked for.
      watermarked_url: watermark ? urlOf(creation.video.name) : '',
    })),
  };
}

interface StatusCall {
  readonly params: { readonly task_id: string };
  readonly caller: Caller;
  readonly context: Context;
}

/** Answers the status operation of the tasks that `operation` starts. */
export function statusOf(
  operation: ImageOperation,
): (call: StatusCall, database: Database) => Promise<ImageTask> {
  return async (call, database) => {
    return taskView(call.context, await visibleTask(call, database, (one) => one === operation));
  };
}

/** Answers `video.creations`, for the tasks of every video operation. */
export async function creationsOfTask(
  call: StatusCall,
  database: Database,
): Promise<z.output<typeof VideoCreations>> {
  const task = await visibleTask(call, database, (operation) => kindOf(operation) === 'video');
  return creationsView(call.context, database, task);
}
