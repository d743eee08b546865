import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import type { Sharp as Image, default as Sharp, SharpOptions } from 'sharp';
import { requireFreeHandles } from '../disk/file-handles.js';
import { isMachineTrouble } from '../disk/machine-trouble.js';

/** The accepted formats; others that sharp reads, such as SVG, could access other files. */
const READABLE_FORMATS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];

export class SharpMissing extends Error {
  override readonly name = 'SharpMissing';

  constructor(cause: unknown) {
    super('This service cannot read images: the optional package sharp is missing or cannot be loaded.', {
      cause,
    });
  }
}

let loading: Promise<typeof Sharp> | undefined;

/**
 * Loads the image library on first use: all cores, no cache, accepted formats only.
 * @throws SharpMissing if it is missing or cannot be loaded
 */
export function loadSharp(): Promise<typeof Sharp> {
  loading ??= importSharp().catch((error) => {
    loading = undefined;
    throw isMachineTrouble(error) ? error : new SharpMissing(error);
  });
  return loading;
}

/**
 * Opens an image: its bytes, or the path of a file. The file is read here, because the image library does not tell a file that cannot be read from one that
 * cannot be decoded.
 * @throws SharpMissing; the system's error if the file cannot be read
 */
export async function openImage(image: string | Buffer, options: SharpOptions): Promise<Image> {
  const sharp = await loadSharp();
  return sharp(typeof image === 'string' ? await readFile(image) : image, {
    limitInputPixels: false,
    ...options,
  });
}

async function importSharp(): Promise<typeof Sharp> {
  requireFreeHandles();
  // Not `import`, which never tries a file again that it could not read, as without file handles.
  const sharp: typeof Sharp = createRequire(import.meta.url)('sharp');
  sharp.concurrency(availableParallelism());
  sharp.cache(false);
  sharp.block({ operation: ['VipsForeignLoad'] });
  const loaders = READABLE_FORMATS.flatMap((format) => [
    `VipsForeignLoad${format}File`,
    `VipsForeignLoad${format}Buffer`,
  ]);
  sharp.unblock({ operation: loaders });
  return sharp;
}
