import { EngineFailure } from '../../engine.js';
import { loadSharp } from '../../sharp.js';
import type { Size } from './planes.js';

/** Pixels as 8 bit sRGB, row by row; the fourth channel is opacity. */
export interface Picture extends Size {
  readonly data: Uint8Array;
  readonly channels: 3 | 4;
}

/** Longest side of the small picture that everything but pixels is computed on. */
const smallSide = 512;
const seconds = 300;

export interface Reading {
  /** Exactly this size; absent: as it is. */
  readonly size?: Size;
  /** How it comes to the size: stretched, where absent; or what is too much of it is cut off. */
  readonly fit?: 'fill' | 'cover';
  /** Removes noise before anything else. */
  readonly denoised?: boolean;
}

/**
 * A picture upright and in sRGB.
 * @throws EngineFailure where it cannot be decoded
 */
export async function readPicture(
  path: string,
  { size, fit = 'fill', denoised }: Reading = {},
): Promise<Picture> {
  const sharp = await loadSharp();
  let reading = sharp(path, { limitInputPixels: false, failOn: 'error' }).autoOrient();
  if (denoised) reading = reading.median(3);
  if (size) reading = reading.resize(size.width, size.height, { fit, kernel: 'lanczos3' });
  try {
    const { data, info } = await reading
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .timeout({ seconds })
      .toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height, channels: info.channels === 4 ? 4 : 3 };
  } catch (error) {
    throw new EngineFailure('The image cannot be decoded.', { cause: error });
  }
}

/** @throws EngineFailure */
export async function sizeOf(path: string): Promise<Size> {
  const sharp = await loadSharp();
  try {
    const { width, height } = (await sharp(path, { limitInputPixels: false }).metadata()).autoOrient;
    return { width, height };
  } catch (error) {
    throw new EngineFailure('The image cannot be decoded.', { cause: error });
  }
}

/** The size of the small picture with the same shape. */
export function smallSize({ width, height }: Size): Size {
  const part = Math.min(1, smallSide / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * part)), height: Math.max(1, Math.round(height * part)) };
}

/** @param size without it the picture's own small size */
export async function shrink(picture: Picture, size: Size = smallSize(picture)): Promise<Picture> {
  const sharp = await loadSharp();
  const { width, height, channels } = picture;
  const data = await sharp(picture.data, { raw: { width, height, channels }, limitInputPixels: false })
    .resize(size.width, size.height, { fit: 'fill' })
    .removeAlpha()
    .raw()
    .timeout({ seconds })
    .toBuffer();
  return { data, ...size, channels: 3 };
}

/**
 * Writes a PNG that says which engine made it.
 * @param sharpen 0 none, 1 strong
 */
export async function writePicture(picture: Picture, path: string, sharpen: number): Promise<void> {
  const sharp = await loadSharp();
  const { width, height, channels } = picture;
  let writing = sharp(picture.data, { raw: { width, height, channels }, limitInputPixels: false });
  if (sharpen > 0)
    writing = writing.sharpen({ sigma: 0.8 + 0.7 * sharpen, m1: 2 * sharpen, m2: 5 * sharpen });
  await writing
    .withExif({ IFD0: { Software: 'engine: local-preview' } })
    .png({ compressionLevel: 6 })
    .timeout({ seconds })
    .toFile(path);
}
