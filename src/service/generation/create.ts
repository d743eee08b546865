import { randomInt, randomUUID } from 'node:crypto';
import type { ImageTask } from '../../contract/image-task.js';
import type { Context, Tx } from '../context.js';
import type { Caller } from '../http/authenticate.js';
import type { Prepared } from '../http/handler.js';
import { Refused, type RefusedDetail } from '../refused.js';
import type { Staged } from '../storage/storage.js';
import { charge, priceOf } from './credits.js';
import type { ImageOperation } from './engine.js';
import { inputKey, scratchFolder, stageInput } from './files.js';
import { takeImage } from './image-input.js';
import { imageFields } from './operations.js';
import { SharpMissing } from './sharp.js';
import { recordStatus } from './states.js';
import { taskView } from './view.js';

interface CreateCall {
  readonly body: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly context: Context;
  readonly signal: AbortSignal;
}

/** How long the images of a task that did not come to be are kept. Milliseconds. */
const orphansMs = 60 * 60_000;

/** Answers the operation that starts a task: its images are fetched and checked before there is one. */
export function startTask(operation: ImageOperation): (call: CreateCall) => Promise<Prepared<ImageTask>> {
  return async (call) => {
    const id = randomUUID();
    const images = await takeImages(call, operation, id);
    try {
      await promiseToForget(call.context, id);
    } catch (error) {
      await images.discard();
      throw error;
    }
    return {
      write: (tx) => create(tx, call, { id, operation, images }),
      end: images.discard,
    };
  };
}

interface TakenImages {
  readonly fields: readonly string[];
  commit(): Promise<void>;
  discard(): Promise<void>;
}

async function takeImages(call: CreateCall, operation: ImageOperation, id: string): Promise<TakenImages> {
  const { body, context, signal } = call;
  const fields = imageFields[operation].filter((field) => body[field] !== undefined);
  const folder = await scratchFolder(context);
  const staged: Staged[] = [];
  const discard = async () => {
    for (const file of staged) await file.discard();
  };
  try {
    const problems: Refused[] = [];
    // One after the other, because each may be large.
    for (const field of fields) {
      try {
        const { path } = await takeImage(body[field] as string, {
          field,
          limits: context.configuration.limits,
          serviceOrigin: context.baseUrl(),
          folder: folder.path,
          httpsOnly: operation === 'image.skinEnhancer',
          signal,
        });
        staged.push(await stageInput(context, inputKey(id, field), path));
      } catch (error) {
        if (error instanceof SharpMissing) throw new Refused('unavailable', error.message);
        if (!(error instanceof Refused) || error.details === undefined) throw error;
        problems.push(error);
      }
    }
    if (problems.length > 0) throw together(problems);
  } catch (error) {
    await discard();
    throw error;
  } finally {
    await folder.remove();
  }
  const commit = async () => {
    for (const file of staged) await file.commit();
  };
  return { fields, commit, discard };
}

function together(problems: readonly Refused[]): Refused {
  const [first] = problems as [Refused];
  if (problems.length === 1) return first;
  const details: RefusedDetail[] = problems.flatMap((problem) => problem.details ?? []);
  return new Refused(first.code, problems.map(({ message }) => message).join(' '), details);
}

/** A crash between images and row would leave files that nothing names; the job looks for the row. */
async function promiseToForget({ database, queue, now }: Context, id: string): Promise<void> {
  const job = { kind: 'forget-inputs', key: id, runAt: now() + orphansMs };
  await database.transaction().execute((tx) => queue.enqueue(tx, job));
}

interface NewTask {
  readonly id: string;
  readonly operation: ImageOperation;
  readonly images: TakenImages;
}

/** Task, charge, history and job come to be together. */
async function create(tx: Tx, call: CreateCall, { id, operation, images }: NewTask): Promise<ImageTask> {
  const { context, caller } = call;
  const creator = caller.userId as string;
  const { webhook_url, ...fields } = call.body;
  const request = { ...fields, ...Object.fromEntries(images.fields.map((field) => [field, field])) };
  await tx
    .insertInto('tasks')
    .values({
      id,
      operation,
      creator,
      status: 'CREATED',
      request: JSON.stringify(request),
      images: JSON.stringify(images.fields),
      seed: seedOf(fields),
      webhook_url: (webhook_url as string | undefined) ?? null,
      results: null,
      reason: null,
      error_code: null,
      memory: null,
      created_at: new Date(context.now()).toISOString(),
    })
    .execute();
  await charge(tx, {
    taskId: id,
    userId: creator,
    amount: priceOf(context, operation),
    now: context.now(),
  });
  await recordStatus(tx, context.now, { taskId: id, status: 'CREATED', actor: creator });
  await context.queue.enqueue(tx, { kind: 'run-image-task', key: id });
  // Last, so that hardly anything can fail after it.
  await images.commit();
  return taskView(context, { id, status: 'CREATED', results: null });
}

/** Random, unless the request wants the same image from the same settings. */
function seedOf({ fixed_generation, advanced_settings }: Readonly<Record<string, unknown>>): number {
  const advanced = advanced_settings as { fixed_generation?: boolean } | undefined;
  return fixed_generation || advanced?.fixed_generation ? 0 : randomInt(2 ** 32);
}
