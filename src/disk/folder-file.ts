import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * A path that names no regular file, or one that is too large. Its codes are those of the system, so that it is reported
 * as a system error where nothing more is known.
 */
export class UnfitFileError extends Error {
  override readonly name = 'UnfitFileError';

  constructor(
    readonly path: string,
    readonly code: 'EISDIR' | 'EFTYPE' | 'EFBIG',
    /** A sentence without its subject. */
    readonly reason: string,
  ) {
    super(`${path} ${reason}`);
  }
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
  if (links) requireRegular(path, statSync(path));
  // It may have been replaced since, so opening it must not block.
  const descriptor = openSync(path, O_RDONLY | O_NONBLOCK | (links ? 0 : O_NOFOLLOW));
  try {
    const stats = fstatSync(descriptor);
    requireRegular(path, stats);
    return { descriptor, stats };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Reads a file that another person may have made, even if it grows while it is read.
 * @throws UnfitFileError if it is not a regular file, or larger; the system's error if it cannot be read
 */
export function readFolderFile(path: string, maxBytes: number): Buffer {
  const { descriptor, stats } = openFolderFile(path);
  try {
    if (stats.size > maxBytes) throw createSizeError(path, maxBytes);
    const chunks: Buffer[] = [];
    for (let left = maxBytes + 1; left > 0; ) {
      // Files of /proc have the size 0.
      const chunk = Buffer.allocUnsafe(Math.min(left, Math.max(stats.size + 1, 4096)));
      const length = readSync(descriptor, chunk);
      if (length === 0) return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, length));
      left -= length;
    }
    throw createSizeError(path, maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

/** Larger than any request. */
export const MAX_GIVEN_BYTES = 256 * 1024 ** 2;

/**
 * Reads a file that a person named: a regular file, or the pipe of a shell's `<(…)`.
 * @throws UnfitFileError if it is another kind of file, or too large; the system's error if it cannot be read
 */
export async function readGivenFile(path: string): Promise<Buffer> {
  if (!isShellPipe(path)) return readFolderFile(path, MAX_GIVEN_BYTES);
  // A blocking read would keep the process from ending.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const chunks: Buffer[] = [];
  let left = MAX_GIVEN_BYTES;
  for await (const chunk of new Socket({ fd: descriptor, readable: true })) {
    chunks.push(chunk);
    left -= chunk.length;
    if (left < 0) throw createSizeError(path, MAX_GIVEN_BYTES);
  }
  return Buffer.concat(chunks);
}

export function isShellPipe(path: string): boolean {
  return /^\/(?:dev|proc\/self)\/fd\/\d+$/.test(path) && statSync(path).isFIFO();
}

/** @throws UnfitFileError */
export function requireRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const code = stats.isDirectory() ? 'EISDIR' : 'EFTYPE';
  throw new UnfitFileError(path, code, stats.isDirectory() ? 'is a folder' : 'is not a regular file');
}

function createSizeError(path: string, maxBytes: number): UnfitFileError {
  return new UnfitFileError(path, 'EFBIG', `is larger than ${Math.floor(maxBytes / 1024 ** 2)} MiB`);
}
