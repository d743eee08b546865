import type { Blend, OverlayOptions } from 'sharp';
import { openPixels, type Picture, readPicture, type Size } from './picture.js';
import { createRandom } from './random.js';

/** Lights are made in this size, and then enlarged. */
const SMALL = { width: 96, height: 96 };

/** Draws a small picture from the value, 0 to 255, of each colour at each point, 0 to 1. */
export function drawSmall(value: (at: number, x: number, y: number) => number): Picture {
  const { width, height } = SMALL;
  const data = Uint8ClampedArray.from({ length: width * height * 3 }, (_, at) => {
    const pixel = Math.floor(at / 3);
    return value(at, (pixel % width) / (width - 1), Math.floor(pixel / width) / (height - 1));
  });
  return { data: new Uint8Array(data.buffer), ...SMALL, channels: 3 };
}

/**
 * Reads a picture in the small size, without its opacity.
 * @throws PreviewFailure if it cannot be decoded
 */
export function readSmall(path: string): Promise<Picture> {
  return readPicture(path, { size: SMALL, isOpaque: true });
}

/** Enlarges a small picture to lie over another one. */
export async function createLayer(
  small: Picture,
  { width, height }: Size,
  {
    blend,
    blur = 0,
    opacity = 1,
  }: { readonly blend: Blend; readonly blur?: number; readonly opacity?: number },
): Promise<OverlayOptions> {
  // Apart, because the library blurs what is enlarged.
  const data = blur > 0 ? await (await openPixels(small)).blur(blur).raw().toBuffer() : small.data;
  let large = (await openPixels({ ...small, data })).resize(width, height, { fit: 'fill' });
  if (opacity < 1) large = large.ensureAlpha(opacity);
  return {
    input: await large.raw().toBuffer(),
    blend,
    raw: { width, height, channels: opacity < 1 ? 4 : 3 },
  };
}

const GRAIN_SIDE = 256;

/** Creates grain that is repeated over a picture. Strength is from 0 to 1. */
export function createGrain(size: Size, strength: number, seed: number): OverlayOptions {
  const [width, height] = [Math.min(GRAIN_SIDE, size.width), Math.min(GRAIN_SIDE, size.height)];
  const next = createRandom(seed);
  const input = Buffer.from(
    Uint8Array.from({ length: width * height }, () =>
      Math.round(128 + strength * 110 * (next() + next() - 1)),
    ),
  );
  return { input, raw: { width, height, channels: 1 }, tile: true, blend: 'soft-light' };
}
