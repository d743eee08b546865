import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Sharp as Image, default as Sharp, SharpOptions } from 'sharp';
import { loadPackages } from './packages.js';

/** The accepted formats; others that sharp reads, such as SVG, could access other files. */
const READABLE_FORMATS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];

const MISSING = 'This service cannot read images: the optional package sharp is missing or cannot be loaded.';

let loaded: typeof Sharp | undefined;

/**
 * Loads the image library on first use: all cores, no cache, accepted formats only.
 * @throws PackageMissing
 */
export function loadSharp(): typeof Sharp {
  loaded ??= loadPackages(MISSING, (require) => {
    const sharp: typeof Sharp = require('sharp');
    sharp.concurrency(availableParallelism());
    sharp.cache(false);
    sharp.block({ operation: ['VipsForeignLoad'] });
    const loaders = READABLE_FORMATS.map((format) => `VipsForeignLoad${format}`);
    sharp.unblock({ operation: loaders.flatMap((loader) => [`${loader}File`, `${loader}Buffer`]) });
    return sharp;
  });
  return loaded;
}

/**
 * Opens an image: its bytes, or the path of a file. The file is read here, because the image library does not tell a file that cannot be read from one that
 * cannot be decoded.
 * @throws PackageMissing; the system's error if the file cannot be read
 */
export async function openImage(image: string | Buffer, options: SharpOptions): Promise<Image> {
  const sharp = loadSharp();
  return sharp(typeof image === 'string' ? await readFile(image) : image, {
    limitInputPixels: false,
    ...options,
  });
}
