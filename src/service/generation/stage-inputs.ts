import { getTaskFacts } from '../../contract/index.js';
import type { TaskFacts } from '../../contract/operation.js';
import { describeProblems } from '../../contract/schema/message.js';
import type { Caller } from '../operation/caller.js';
import { type Context, getOwnOrigin } from '../operation/context.js';
import { getEngine, type InputImage } from '../operation/engine.js';
import { invalidField, Refused } from '../operation/refused.js';
import { nameScratchFolder } from '../operation/scratch-folder.js';
import { invalidRequest } from '../operation/validation.js';
import type { InputOptions } from './fetch-input.js';
import { loadImage } from './load-image.js';
import { loadVideo } from './load-video.js';
import { findCreation, getResultKey } from './results.js';
import { copyObject, getInputKey, listImageFields, nameInput, storeFile, VIDEO_INPUT } from './task-files.js';
import type { TaskRef } from './task-states.js';
import { removeUnusedFiles } from './unused-files.js';

export interface StartCall {
  readonly body: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly context: Context;
  readonly signal: AbortSignal;
}

/**
 * Fetches, checks and stores every image and video of a request, before its task is created.
 * @returns the names of the inputs
 * @throws Refused with every field that has a problem; PackageMissing
 */
export function stageInputs(call: StartCall, task: TaskRef): Promise<readonly string[]> {
  const { caller, context, signal } = call;
  return context.preparations.run(caller.userId as string, () => storeInputs(call, task), signal);
}

async function storeInputs(call: StartCall, task: TaskRef): Promise<readonly string[]> {
  const folder = nameScratchFolder(call.context);
  const space = await call.context.disk.reserve(call.caller.userId as string);
  // A file is fetched into the folder, and copied from there.
  const place = { folder: folder.path, admit: (bytes: number) => space.grow(2 * bytes) };
  const names: string[] = [];
  const images: Record<string, InputImage> = {};
  try {
    const problems: Refused[] = [];
    // One at a time, because each may be large.
    for (const [name, store] of listInputs(call, task, place)) {
      try {
        const image = await store();
        names.push(name);
        if (image) images[name] = image;
      } catch (error) {
        if (!(error instanceof Refused) || error.details === undefined) throw error;
        problems.push(error);
      }
    }
    if (problems.length > 0) throw mergeProblems(problems);
    const engine = getEngine(call.context, task.operation);
    const unfit = engine.checkImages?.(images) ?? [];
    if (unfit.length > 0) throw invalidRequest(unfit, 'body');
  } catch (error) {
    await removeUnusedFiles(call.context, task.id);
    throw error;
  } finally {
    await folder.remove();
    space.release();
  }
  return names;
}

/** Stores an input. @returns what an engine is sent of it, if it is an image */
type Input = readonly [name: string, store: () => Promise<InputImage | undefined>];

/** Where inputs are fetched to. */
type StagingPlace = { readonly folder: string; readonly admit: NonNullable<InputOptions['admit']> };

function listInputs(call: StartCall, { id, operation }: TaskRef, place: StagingPlace): Input[] {
  const { body, caller, context, signal } = call;
  const { limits } = context.configuration;
  const { httpsOnly = false, imageUrls = [], scaleField, videoFields } = getTaskFacts(operation);
  const owner = caller.userId as string;
  const origin = getOwnOrigin(context, 'inputs');
  const options = { limits, ...origin, ...place, owner, inspector: context.inspector, signal };
  const fields = listImageFields(operation).filter((field) => body[field] !== undefined);
  const images = fields.flatMap((field): Input[] => {
    const values = [body[field]].flat() as string[];
    return [nameInput(field, body[field])].flat().map((name, at) => [
      name,
      async () => {
        const image = await loadImage(values[at] as string, { ...options, field: name, httpsOnly });
        if (scaleField) requireUpscalable(image, body[scaleField] as number, limits, scaleField);
        await storeFile(context, getInputKey(id, name), image.content);
        return imageUrls.includes(field) ? undefined : image;
      },
    ]);
  });
  if (!videoFields) return images;
  const store = async () => {
    await storeVideo(call, videoFields, getInputKey(id, VIDEO_INPUT), place);
    return undefined;
  };
  return [[VIDEO_INPUT, store], ...images];
}

// Decided: a creation of this service that the caller may see is read from storage, even if its URL has
// expired. For any other creation id, the video is fetched from video_url.
async function storeVideo(
  call: StartCall,
  [idField, field]: NonNullable<TaskFacts['videoFields']>,
  key: string,
  place: StagingPlace,
) {
  const { body, caller, context, signal } = call;
  const creation = await findCreation(context.database, caller, String(body[idField]));
  if (creation) {
    await place.admit(creation.video.size);
    return copyObject(context, key, getResultKey(creation.taskId, creation.video));
  }
  if (body[field] === undefined)
    throw invalidField(field, 'is required, because no video has that creation id');
  const { limits } = context.configuration;
  const options = { field, limits, ...getOwnOrigin(context, 'inputs'), ...place, signal };
  return storeFile(context, key, await loadVideo(body[field] as string, options));
}

function mergeProblems(problems: readonly Refused[]): Refused {
  const [first] = problems as [Refused];
  if (problems.length === 1) return first;
  const details = problems.flatMap((problem) => problem.details ?? []);
  return new Refused(first.code, describeProblems(details), details);
}

// Decided: a result has at most as many pixels as an input may have.
/** @throws Refused invalid_request if the result would be too large, with the largest factor that fits */
function requireUpscalable(
  { width, height }: InputImage,
  factor: number,
  { imagePixels }: { readonly imagePixels: number },
  field: string,
): void {
  if (width * factor * height * factor <= imagePixels) return;
  const most = Math.floor(Math.sqrt(imagePixels / (width * height)));
  const sizes = `${width} × ${height} pixels would become ${width * factor} × ${height * factor}`;
  const fit = most < 2 ? '; this image cannot be upscaled' : `, which allow at most ${most}`;
  throw invalidField(field, `is too large: ${sizes}, more than ${imagePixels / 1e6} megapixels${fit}`);
}
