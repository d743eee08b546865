import { availableParallelism } from 'node:os';
import type { default as Sharp } from 'sharp';

/** What images may be; anything else that sharp reads, such as SVG, could reach for other files. */
const readable = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];

export class SharpMissing extends Error {
  override readonly name = 'SharpMissing';

  constructor(cause: unknown) {
    super('This service cannot read images: the optional package sharp is not installed.', { cause });
  }
}

let loading: Promise<typeof Sharp> | undefined;

/**
 * The image library, loaded when first needed and set up for a service: every core, no cache, known formats only.
 * @throws SharpMissing where it is not installed
 */
export function loadSharp(): Promise<typeof Sharp> {
  loading ??= load().catch((error) => {
    loading = undefined;
    throw new SharpMissing(error);
  });
  return loading;
}

async function load(): Promise<typeof Sharp> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(availableParallelism());
  sharp.cache(false);
  sharp.block({ operation: ['VipsForeignLoad'] });
  const loaders = readable.flatMap((format) => [
    `VipsForeignLoad${format}File`,
    `VipsForeignLoad${format}Buffer`,
  ]);
  sharp.unblock({ operation: loaders });
  return sharp;
}
