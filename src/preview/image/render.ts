import { join } from 'node:path';
import type { OnProgress, PreviewJob, PreviewResult } from '../job.js';
import { enhanceSkin, upscale } from './enhance.js';
import { type ImageOperation, writePicture } from './picture.js';
import { relight } from './relight.js';
import { transferStyle } from './style-transfer.js';

const OPERATIONS: Readonly<Record<PreviewJob<'image'>['operation'], ImageOperation>> = {
  'image.relight': relight,
  'image.styleTransfer': transferStyle,
  'image.skinEnhancer': enhanceSkin,
  'image.upscaler': upscale,
};

/**
 * Runs a task and writes its picture into the folder of the task.
 * @throws PreviewFailure if an image cannot be used; what `onProgress` throws
 */
export async function render(job: PreviewJob<'image'>, onProgress: OnProgress): Promise<PreviewResult> {
  const { picture, sharpen } = await OPERATIONS[job.operation](job, (part) => onProgress(part * 0.9));
  const path = join(job.folder, 'result.png');
  await writePicture(picture, path, sharpen);
  onProgress(1);
  return { files: [{ path, contentType: 'image/png' }] };
}
