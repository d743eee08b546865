import { isMachineTrouble } from '../../disk/machine-trouble.js';
import { PreviewFailure } from '../job.js';
import { loadSharp, openImage } from '../sharp.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Pixels as 8-bit sRGB, row by row; the fourth channel is opacity. */
export interface Picture extends Size {
  readonly data: Uint8Array;
  readonly channels: 3 | 4;
}

const TIMEOUT_SECONDS = 300;

/**
 * Reads a picture upright and in sRGB.
 * @param options the exact size (default: the original one), whether to crop to it instead of stretching, and whether to leave
 * out the opacity
 * @throws PreviewFailure if it cannot be decoded
 */
export async function readPicture(
  path: string,
  { size, fit = 'fill', isOpaque }: { size?: Size; fit?: 'fill' | 'cover'; isOpaque?: boolean } = {},
): Promise<Picture> {
  let reading = (await openImage(path, { failOn: 'error' })).autoOrient();
  if (isOpaque) reading = reading.removeAlpha();
  if (size) reading = reading.resize(size.width, size.height, { fit, kernel: 'lanczos3' });
  try {
    const { data, info } = await reading
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .timeout({ seconds: TIMEOUT_SECONDS })
      .toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height, channels: info.channels === 4 ? 4 : 3 };
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

export async function openPixels({ data, ...raw }: Size & { data: Uint8Array; channels: 1 | 3 | 4 }) {
  const sharp = loadSharp();
  return sharp(data, { raw, limitInputPixels: false }).timeout({ seconds: TIMEOUT_SECONDS });
}
