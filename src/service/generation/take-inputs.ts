import type { Context } from '../context.js';
import type { Caller } from '../http/authenticate.js';
import { Refused, type RefusedDetail } from '../refused.js';
import type { Staged } from '../storage/storage.js';
import { creationOf } from './creations.js';
import type { TaskOperation } from './engine.js';
import { inputKey, resultKey, scratchFolder, stageCopy, stageFile } from './files.js';
import { takeImage } from './image-input.js';
import { imageFields, nameOf, videoInput } from './operations.js';
import { SharpMissing } from './sharp.js';
import { requireUpscalable } from './upscaled.js';
import { takeVideo } from './video-input.js';

/** A request that starts a task. */
export interface StartCall {
  readonly body: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly context: Context;
  readonly signal: AbortSignal;
}

/** What a task is about to be given: in storage, but not yet visible. */
export interface TakenInputs {
  readonly names: readonly string[];
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** The task that the inputs are for. */
interface NewTask {
  readonly id: string;
  readonly operation: TaskOperation;
}

/**
 * Fetches and checks every image and video of a request.
 * @throws Refused naming every field that holds something unfit; unavailable
 */
export async function takeInputs(call: StartCall, task: NewTask): Promise<TakenInputs> {
  const folder = await scratchFolder(call.context);
  const staged = new Map<string, Staged>();
  const discard = async () => {
    for (const file of staged.values()) await file.discard();
  };
  try {
    const problems: Refused[] = [];
    // One after the other, because each may be large.
    for (const [name, stage] of inputsOf(call, task, folder.path)) {
      try {
        staged.set(name, await stage());
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
    for (const file of staged.values()) await file.commit();
  };
  return { names: [...staged.keys()], commit, discard };
}

type Input = readonly [name: string, stage: () => Promise<Staged>];

function inputsOf(call: StartCall, { id, operation }: NewTask, folder: string): Input[] {
  const { body, context, signal } = call;
  const { limits } = context.configuration;
  const taking = { limits, serviceOrigin: context.baseUrl(), folder, signal };
  const fields = imageFields[operation].filter((field) => body[field] !== undefined);
  const images = fields.flatMap((field): Input[] => {
    const values = [body[field]].flat() as string[];
    return [nameOf(field, body[field])].flat().map((name, at) => [
      name,
      async () => {
        const httpsOnly = operation === 'image.skinEnhancer';
        const image = await takeImage(values[at] as string, { ...taking, field: name, httpsOnly });
        if (operation === 'image.upscaler') requireUpscalable(image, body.scale_factor as number, limits);
        return stageFile(context, inputKey(id, name), image.path);
      },
    ]);
  });
  if (operation !== 'video.extend') return images;
  return [[videoInput, () => stageVideo(call, inputKey(id, videoInput), folder)], ...images];
}

// Decided: a creation of this service that the caller may see is extended from storage, whatever became of the links to
// it. Any other creation id, somebody else's too, says nothing here: the video is what video_url leads to.
async function stageVideo({ body, caller, context, signal }: StartCall, key: string, folder: string) {
  const creation = await creationOf(context.database, caller, body.video_creation_id as string);
  if (creation) return stageCopy(context, key, resultKey(creation.taskId, creation.video.name));
  const { limits } = context.configuration;
  const taking = { field: 'video_url', limits, serviceOrigin: context.baseUrl(), folder, signal };
  return stageFile(context, key, await takeVideo(body.video_url as string, taking));
}

function together(problems: readonly Refused[]): Refused {
  const [first] = problems as [Refused];
  if (problems.length === 1) return first;
  const details: RefusedDetail[] = problems.flatMap((problem) => problem.details ?? []);
  return new Refused(first.code, problems.map(({ message }) => message).join(' '), details);
}
