import { availableParallelism } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import type { default as Sharp } from 'sharp';

/** The accepted formats; others that sharp reads, such as SVG, could access other files. */
const READABLE_FORMATS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];

export class SharpMissing extends Error {
  override readonly name = 'SharpMissing';

  constructor(cause: unknown) {
    super('This service cannot read images: the optional package sharp is not installed.', { cause });
  }
}

let loading: Promise<typeof Sharp> | undefined;

/**
 * Loads the image library on first use, configured for a service: all cores, no cache, accepted formats only. Threads
 * share this configuration, so the main thread must have loaded it before it starts them.
 * @throws SharpMissing if it is not installed
 */
export function loadSharp(): Promise<typeof Sharp> {
  loading ??= importSharp().catch((error) => {
    loading = undefined;
    throw new SharpMissing(error);
  });
  return loading;
}

async function importSharp(): Promise<typeof Sharp> {
  const { default: sharp } = await import('sharp');
  // Until the accepted formats are unblocked, no thread of the process could read any.
  if (!isMainThread) return sharp;
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
