import { isMachineTrouble } from '../../disk/machine-trouble.js';
import { ENGINE_NOTE, type OnProgress, PreviewFailure, type PreviewJob } from '../job.js';
import { loadSharp, openImage } from '../sharp.js';
import type { Size } from './planes.js';

/** Pixels as 8-bit sRGB, row by row; the fourth channel is opacity. */
export interface Picture extends Size {
  readonly data: Uint8Array;
  readonly channels: 3 | 4;
}

/** The longest side of the reduced picture that all planes are computed on. */
const SMALL_SIDE_PIXELS = 512;
const TIMEOUT_SECONDS = 300;

interface ReadOptions {
  /** The exact size. Default: the original size. */
  readonly size?: Size;
  /** Whether to stretch (the default) or to crop to the size. */
  readonly fit?: 'fill' | 'cover';
  /** Whether to remove noise first. */
  readonly denoised?: boolean;
}

/**
 * Reads a picture upright and in sRGB.
 * @throws PreviewFailure if it cannot be decoded
 */
export async function readPicture(
  path: string,
  { size, fit = 'fill', denoised }: ReadOptions = {},
): Promise<Picture> {
  let reading = (await openImage(path, { failOn: 'error' })).autoOrient();
  if (denoised) reading = reading.median(3);
  if (size) reading = reading.resize(size.width, size.height, { fit, kernel: 'lanczos3' });
  try {
    const { data, info } = await reading
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .timeout({ seconds: TIMEOUT_SECONDS })
      .toBuffer({ resolveWithObject: true });
    // In shared memory, because several threads paint it.
    const pixels = new Uint8Array(new SharedArrayBuffer(data.length));
    pixels.set(data);
    return { data: pixels, width: info.width, height: info.height, channels: info.channels === 4 ? 4 : 3 };
  } catch (error) {
    throw toVerdict(error);
  }
}

/** @throws PreviewFailure */
export async function readSize(path: string): Promise<Size> {
  const picture = await openImage(path, {});
  try {
    const { width, height } = (await picture.metadata()).autoOrient;
    return { width, height };
  } catch (error) {
    throw toVerdict(error);
  }
}

function toVerdict(error: unknown): unknown {
  if (isMachineTrouble(error)) return error;
  return new PreviewFailure('The image cannot be decoded.', { cause: error });
}

/** The size of the reduced picture with the same aspect ratio. */
export function computeSmallSize({ width, height }: Size): Size {
  const part = Math.min(1, SMALL_SIDE_PIXELS / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * part)), height: Math.max(1, Math.round(height * part)) };
}

/** @param size default: the reduced size of the picture */
export async function shrinkPicture(
  picture: Picture,
  size: Size = computeSmallSize(picture),
): Promise<Picture> {
  const sharp = await loadSharp();
  const { width, height, channels } = picture;
  const data = await sharp(picture.data, { raw: { width, height, channels }, limitInputPixels: false })
    .resize(size.width, size.height, { fit: 'fill' })
    .removeAlpha()
    .raw()
    .timeout({ seconds: TIMEOUT_SECONDS })
    .toBuffer();
  return { data, ...size, channels: 3 };
}

/**
 * Writes a PNG whose metadata names the engine.
 * @param sharpen 0 none, 1 strong
 */
export async function writePicture(picture: Picture, path: string, sharpen: number): Promise<void> {
  const sharp = await loadSharp();
  const { width, height, channels } = picture;
  let writing = sharp(picture.data, { raw: { width, height, channels }, limitInputPixels: false });
  if (sharpen > 0)
    writing = writing.sharpen({ sigma: 0.8 + 0.7 * sharpen, m1: 2 * sharpen, m2: 5 * sharpen });
  await writing
    .withExif({ IFD0: { Software: ENGINE_NOTE } })
    .png({ compressionLevel: 6 })
    .timeout({ seconds: TIMEOUT_SECONDS })
    .toFile(path);
}

/** A task within its worker thread. */
export type ImageJob = Pick<PreviewJob, 'images' | 'seed'> & {
  readonly request: Readonly<Record<string, unknown>>;
};

interface PaintedImage {
  readonly picture: Picture;
  /** 0 to 1 */
  readonly sharpen: number;
}

export type ImageOperation = (job: ImageJob, onProgress: OnProgress) => Promise<PaintedImage>;

/** The request as declared in the contract; it was validated when the task was created. */
export function getRequest<Request>(job: ImageJob): Request {
  return job.request as Request;
}

/** @throws TypeError if the task has no such image */
export function getImagePath(job: ImageJob, field: string): string {
  const path = job.images[field];
  if (path === undefined) throw new TypeError(`The task has no image ${field}.`);
  return path;
}
