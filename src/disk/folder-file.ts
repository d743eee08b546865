import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';

/** A path that names no regular file, or one that is too large. The message is a sentence without its subject. */
export class UnfitFileError extends Error {
  override readonly name = 'UnfitFileError';
}

export interface OpenedFile {
  readonly descriptor: number;
  readonly stats: Stats;
}

/**
 * Opens a file to read that another person may have made. Pipes, devices and sockets are not opened, because opening or
 * reading one may never end.
 *
 * @param links whether to follow a symbolic link at the end of the path
 * @throws UnfitFileError if it is not a regular file; the system's error if it cannot be opened
 */
export function openFolderFile(path: string, { links = true } = {}): OpenedFile {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  if (links) requireRegular(statSync(path));
  // It may have been replaced since, so opening it must not block.
  const descriptor = openSync(path, O_RDONLY | O_NONBLOCK | (links ? 0 : O_NOFOLLOW));
  try {
    const stats = fstatSync(descriptor);
    requireRegular(stats);
    return { descriptor, stats };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Reads a file that another person may have made, even if it grows meanwhile.
 * @throws UnfitFileError if it is not a regular file, or larger; the system's error if it cannot be read
 */
export function readFolderFile(path: string, maxBytes: number): Buffer {
  const { descriptor, stats } = openFolderFile(path);
  try {
    if (stats.size > maxBytes) throw createSizeError(maxBytes);
    // Files of /proc have the size 0.
    const chunks: Buffer[] = [];
    for (let left = maxBytes + 1; left > 0; ) {
      const chunk = Buffer.allocUnsafe(Math.min(left, Math.max(stats.size + 1, 64 * 1024)));
      const length = readSync(descriptor, chunk);
      if (length === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, length));
      left -= length;
    }
    throw createSizeError(maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

function requireRegular(stats: Stats): void {
  if (!stats.isFile()) throw new UnfitFileError('is not a regular file');
}

function createSizeError(maxBytes: number): UnfitFileError {
  return new UnfitFileError(`is larger than ${Math.floor(maxBytes / 1024 ** 2)} MiB`);
}
