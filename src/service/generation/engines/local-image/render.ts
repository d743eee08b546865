import { join } from 'node:path';
import type { EngineJob, EngineResult, ImageOperation } from '../../engine.js';
import type { Operation } from './job.js';
import type { Watch } from './paint.js';
import { writePicture } from './picture.js';
import { relight } from './relight.js';
import { skinEnhancer } from './skin-enhancer.js';
import { styleTransfer } from './style-transfer.js';
import { upscaler } from './upscaler.js';

const operations: Readonly<Record<ImageOperation, Operation>> = {
  'image.relight': relight,
  'image.styleTransfer': styleTransfer,
  'image.skinEnhancer': skinEnhancer,
  'image.upscaler': upscaler,
};

/**
 * Does a task and writes its picture into the task's folder.
 * @throws EngineFailure where an image cannot be worked on; what `watch` throws
 */
export async function render(job: EngineJob<ImageOperation>, watch: Watch): Promise<EngineResult> {
  const { picture, sharpen } = await operations[job.operation](job, (part) => watch(part * 0.9));
  const path = join(job.folder, 'result.png');
  await writePicture(picture, path, sharpen);
  watch(1);
  return { files: [{ path, contentType: 'image/png' }] };
}
