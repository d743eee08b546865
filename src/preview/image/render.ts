import { join } from 'node:path';
import { ENGINE_NOTE, type OnProgress, type PreviewJob, type PreviewResult } from '../job.js';
import { enhanceSkin, upscale } from './enhance.js';
import { applyLook, type Edit, type ImageOperation } from './look.js';
import { openPixels, type Picture } from './picture.js';
import { relight } from './relight.js';
import { transferStyle } from './style-transfer.js';

const OPERATIONS = {
  'image.relight': relight,
  'image.styleTransfer': transferStyle,
  'image.skinEnhancer': enhanceSkin,
  'image.upscaler': upscale,
} as Readonly<Record<PreviewJob<'image'>['operation'], ImageOperation<unknown>>>;

/**
 * Runs a task and writes its picture into the folder of the task.
 * @throws PreviewFailure if an image cannot be used; what `onProgress` throws
 */
export async function render(job: PreviewJob<'image'>, onProgress: OnProgress): Promise<PreviewResult> {
  const { operation, request, images, seed, folder } = job;
  if (images.image === undefined) throw new TypeError('The task has no image.');
  onProgress(0);
  const find = (field: string) => images[field];
  const edit = await OPERATIONS[operation]({ request, find, image: images.image, seed });
  onProgress(0.3);
  const picture = await applyEdit(edit);
  onProgress(0.7);
  const path = join(folder, 'result.png');
  await (await openPixels(picture))
    .withExif({ IFD0: { Software: ENGINE_NOTE, ImageDescription: describeRequest(job) } })
    .png({ compressionLevel: 6 })
    .toFile(path);
  onProgress(1);
  return { files: [{ path, contentType: 'image/png' }] };
}

async function applyEdit({ picture, look, tone, layers }: Edit): Promise<Picture> {
  const opaque = (await openPixels(picture)).removeAlpha();
  const looked = await applyLook(opaque, look, picture, tone).raw().toBuffer();
  const base = await openPixels({ ...picture, data: looked, channels: 3 });
  // A composition adds opacity.
  const data = await base
    .composite([...layers])
    .removeAlpha()
    .raw()
    .toBuffer();
  if (picture.channels === 3) return { ...picture, data };
  const opacity = await (await openPixels(picture)).extractChannel(3).raw().toBuffer();
  const joined = await openPixels({ ...picture, data, channels: 3 });
  const raw = { width: picture.width, height: picture.height, channels: 1 } as const;
  return { ...picture, data: await joined.joinChannel(opacity, { raw }).raw().toBuffer() };
}

/** Longer texts are cut off. */
const MOST_CHARACTERS = 2000;

/** The options of a request as JSON in ASCII, without its images and callback. */
function describeRequest({ operation, request, images }: PreviewJob<'image'>): string {
  const shown = Object.entries(request).filter(([name]) => !(name in images) && name !== 'webhook_url');
  const shorten = (value: unknown) => (typeof value === 'string' ? value.slice(0, MOST_CHARACTERS) : value);
  const options = Object.fromEntries(shown.map(([name, value]) => [name, shorten(value)]));
  return JSON.stringify({ operation, ...options }).replace(
    /[^\x20-\x7e]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
