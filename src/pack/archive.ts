import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, type ZlibOptions } from 'node:zlib';
import { createFile, createPartPath } from '../disk/part-file.js';
import type { PackFile } from './files.js';
import { PackError } from './problem.js';
import { type FilePart, readParts } from './read-parts.js';
import { runInOrder } from './run-in-order.js';
import { computeTreeDigest, sortByPath, type TreeEntry } from './tree.js';
import { encodeDescriptor, encodeDirectory, encodeLocalHeader, type ZipEntry } from './write-zip.js';

export interface BuiltArchive {
  /** Bytes of the archive. */
  readonly size: number;
  /** SHA-256 of the archive, 64 lowercase hex digits. Other builds of zlib may produce other bytes for the same tree. */
  readonly sha256: string;
  /** The `computeTreeDigest` of the files, equal to the one of reading the archive back. */
  readonly tree: string;
  readonly entries: number;
  /** Bytes of all files. */
  readonly unpacked: number;
}

export interface ArchiveProgress {
  readonly files: number;
  readonly totalFiles: number;
  readonly bytes: number;
  readonly totalBytes: number;
}

export interface ArchiveOptions {
  readonly signal?: AbortSignal;
  /** Called for every part of a file, so it must be fast. */
  readonly onProgress?: (progress: ArchiveProgress) => void;
}

/**
 * Writes the files as a zip to `target`, under a temporary name next to it until it is complete. On one machine, the
 * same files always produce the same bytes, in any order. Memory use does not depend on the size of the files.
 *
 * @throws PackError if a file was removed or changed while it was read; the signal's reason if aborted. Nothing is left
 *   behind, and an existing `target` stays unchanged.
 */
export async function createArchive(
  files: readonly PackFile[],
  target: string,
  options: ArchiveOptions = {},
): Promise<BuiltArchive> {
  options.signal?.throwIfAborted();
  if (files.length === 0) throw new PackError('There are no files to pack.');
  const temporary = createPartPath(dirname(target));
  try {
    const built = await writeZip(sortByPath(files), temporary, options);
    await rename(temporary, target);
    return built;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeZip(
  files: readonly PackFile[],
  path: string,
  { signal, onProgress }: ArchiveOptions,
): Promise<BuiltArchive> {
  const tree: TreeEntry[] = [];
  const totalBytes = files.reduce((sum, file) => sum + file.size, 0);
  let bytes = 0;
  const onRead = (length: number) => {
    bytes += length;
    onProgress?.({ files: tree.length, totalFiles: files.length, bytes, totalBytes });
  };
  const digest = createHash('sha256');
  let size = 0;
  async function* measureZip() {
    for await (const chunk of encodeZip(files, tree, onRead)) {
      signal?.throwIfAborted();
      digest.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  }
  await pipeline(measureZip, await createFile(path, { highWaterMark: WRITE_BYTES }));
  onRead(0);
  return {
    size,
    sha256: digest.digest('hex'),
    tree: computeTreeDigest(tree),
    entries: files.length,
    unpacked: totalBytes,
  };
}

/** Bytes that wait to be written together. */
const WRITE_BYTES = 512 * 1024;
/** How many parts are read, deflated and waiting to be written, which bounds the memory. */
const MAX_PARTS = 6;

/** Yields the bytes of the zip, and adds each complete file to `tree`. Reads and deflates ahead in parallel. */
async function* encodeZip(
  files: readonly PackFile[],
  tree: TreeEntry[],
  onRead: (length: number) => void,
): AsyncGenerator<Buffer> {
  const entries: ZipEntry[] = [];
  let offset = 0;
  let hash = createHash('sha256');
  for await (const { part, packed } of runInOrder(readParts(files), MAX_PARTS, packPart)) {
    const { file, content } = part;
    if (part.isFirst) entries.push(createEntry(part, offset));
    const entry = entries.at(-1) as ZipEntry;
    entry.crc32 = crc32(content, entry.crc32);
    entry.compressedSize += packed.length;
    hash.update(content);
    onRead(content.length);
    const chunks = [packed];
    // The header of a longer file is written before its checksum is known.
    if (part.isFirst) chunks.unshift(encodeLocalHeader(entry));
    if (part.isLast && entry.isStreamed) chunks.push(encodeDescriptor(entry));
    for (const chunk of chunks) offset += chunk.length;
    yield* chunks;
    if (!part.isLast) continue;
    tree.push({ path: file.path, mode: file.mode, sha256: hash.digest('hex') });
    hash = createHash('sha256');
  }
  yield encodeDirectory(entries, offset);
}

function createEntry({ file: { path, mode, size }, isLast }: FilePart, offset: number): ZipEntry {
  const isDeflated = chooseDeflate(path) !== undefined;
  const name = Buffer.from(path);
  return { name, mode, size, offset, isDeflated, isStreamed: !isLast, crc32: 0, compressedSize: 0 };
}

/** Files that deflate cannot make smaller, by name, so that the choice does not depend on the content. */
const COMPRESSED =
  /^\.(?:png|jpe?g|webp|avif|gif|mp[34]|m4a|webm|mov|ogg|flac|woff2?|zip|gz|bz2|xz|7z|whl)$/i;
const WEIGHTS = /^\.(?:npz|safetensors|ckpt|pth?|onnx|gguf)$/i;

/** @returns undefined to store it as it is */
function chooseDeflate(path: string): ZlibOptions | undefined {
  const extension = extname(path);
  if (COMPRESSED.test(extension)) return undefined;
  // Some bytes of numbers are more frequent than others, but hardly any sequence occurs twice. As small as
  // with level 6, in a quarter of the time.
  return WEIGHTS.test(extension) ? { strategy: constants.Z_RLE } : { level: 6 };
}

const deflateInThread = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);

/** Deflates a part; the results for all parts of a file, one after the other, are one stream. */
async function packPart(part: FilePart): Promise<{ readonly part: FilePart; readonly packed: Buffer }> {
  const { file, content, isLast } = part;
  const options = chooseDeflate(file.path);
  if (!options) return { part, packed: content };
  const packed = await deflateInThread(content, {
    ...options,
    windowBits: chooseWindowBits(content.length),
    // Longer buffers wait for the garbage collector in numbers: half a part each costs 60 MB for a pack of 1 GB.
    chunkSize: 64 * 1024,
    finishFlush: isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
  });
  return { part, packed };
}

/** A window no longer than the part gives the same result with less memory; deflate does not search 512 bytes of it. */
function chooseWindowBits(length: number): number {
  return Math.min(15, Math.max(9, Math.ceil(Math.log2(length + 512))));
}
