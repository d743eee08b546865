import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { crc32 } from 'node:zlib';
import { createPartPath } from '../disk/part-file.js';
import { type DeflateKind, deflatePart, limitDeflated } from './deflate.js';
import type { PackFile } from './files.js';
import { PackError } from './problem.js';
import { runInOrder } from './run-in-order.js';
import { SourceFile } from './source-file.js';
import { computeTreeDigest, sortByPath, type TreeEntry } from './tree.js';
import { encodeDescriptor, encodeDirectory, encodeLocalHeader, type ZipEntry } from './write-zip.js';

export interface BuiltArchive {
  /** Bytes of the archive. */
  readonly size: number;
  /** SHA-256 of the archive, 64 lowercase hex digits. Other builds of zlib may produce other bytes for the same tree. */
  readonly sha256: string;
  /** The `computeTreeDigest` of the files, equal to the one of reading the archive back. */
  readonly tree: string;
  /** Number of files. */
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
  const output = new ArchiveFile(await open(path, 'wx'));
  try {
    for await (const chunk of encodeZip(files, tree, onRead)) {
      signal?.throwIfAborted();
      await output.append(chunk);
    }
    await output.flush();
  } finally {
    await output.handle.close();
  }
  onRead(0);
  return {
    size: output.size,
    sha256: output.digest.digest('hex'),
    tree: computeTreeDigest(tree),
    entries: files.length,
    unpacked: totalBytes,
  };
}

/** Bytes of a file that are read and deflated at once. Part of the format: other parts give other bytes. */
const PART_BYTES = 512 * 1024;
/** How many parts are read, deflated and waiting to be written, which bounds the memory. */
const MAX_PARTS = 6;

/** A range of a file. Small files have one part. */
interface Part {
  readonly source: SourceFile;
  readonly start: number;
  readonly end: number;
}

/** What a part is read and deflated into. */
interface PartBuffers {
  readonly input: Buffer;
  readonly output: Buffer;
}

interface PackedPart extends Part {
  readonly buffers: PartBuffers;
  readonly content: Buffer;
  readonly packed: Buffer;
}

/** Yields the bytes of the zip, and adds each complete file to `tree`. Reads and deflates ahead in parallel. */
async function* encodeZip(
  files: readonly PackFile[],
  tree: TreeEntry[],
  onRead: (length: number) => void,
): AsyncGenerator<Buffer> {
  const entries: ZipEntry[] = [];
  const opened = new Set<SourceFile>();
  // Used again and again: much garbage outside of the heap is collected late.
  const free: PartBuffers[] = [];
  const pack = (part: Part) => packPart(part, free.pop() ?? createPartBuffers());
  let offset = 0;
  let current: OpenEntry | undefined;
  try {
    for await (const part of runInOrder(listParts(files, opened), MAX_PARTS, pack)) {
      const { source, content, packed } = part;
      const isLast = part.end === source.file.size;
      current ??= new OpenEntry(source.file, offset);
      current.add(content, packed);
      onRead(content.length);
      const { entry } = current;
      const chunks = [packed];
      // The header of a longer file is written before its checksum is known.
      if (part.start === 0) chunks.unshift(encodeLocalHeader(entry));
      if (isLast && entry.isStreamed) chunks.push(encodeDescriptor(entry));
      for (const chunk of chunks) offset += chunk.length;
      yield* chunks;
      free.push(part.buffers);
      if (!isLast) continue;
      source.close();
      opened.delete(source);
      entries.push(entry);
      tree.push({ path: source.file.path, mode: source.file.mode, sha256: current.hash.digest('hex') });
      current = undefined;
    }
    yield encodeDirectory(entries, offset);
  } finally {
    for (const source of opened) source.abandon();
  }
}

function* listParts(files: readonly PackFile[], opened: Set<SourceFile>): Generator<Part> {
  for (const file of files) {
    const source = new SourceFile(file);
    opened.add(source);
    for (let start = 0; start === 0 || start < file.size; start += PART_BYTES)
      yield { source, start, end: Math.min(file.size, start + PART_BYTES) };
  }
}

/** Counts what is written of a file. */
class OpenEntry {
  readonly hash: Hash = createHash('sha256');
  readonly #file: PackFile;
  readonly #offset: number;
  #crc32 = 0;
  #compressedSize = 0;

  constructor(file: PackFile, offset: number) {
    this.#file = file;
    this.#offset = offset;
  }

  add(content: Buffer, packed: Buffer): void {
    this.hash.update(content);
    this.#crc32 = crc32(content, this.#crc32);
    this.#compressedSize += packed.length;
  }

  get entry(): ZipEntry {
    const { path, mode, size } = this.#file;
    return {
      name: Buffer.from(path),
      mode,
      isDeflated: chooseDeflate(path) !== undefined,
      isStreamed: size > PART_BYTES,
      offset: this.#offset,
      crc32: this.#crc32,
      compressedSize: this.#compressedSize,
      size,
    };
  }
}

/** Files that deflate cannot make smaller, by name, so that the choice does not depend on the content. */
const COMPRESSED =
  /^\.(?:png|jpe?g|webp|avif|gif|mp[34]|m4a|webm|mov|ogg|flac|woff2?|zip|gz|bz2|xz|7z|whl)$/i;
const WEIGHTS = /^\.(?:npz|safetensors|ckpt|pth?|onnx|gguf)$/i;

/** @returns undefined to store it as it is */
function chooseDeflate(path: string): DeflateKind | undefined {
  const extension = extname(path);
  if (COMPRESSED.test(extension)) return undefined;
  return WEIGHTS.test(extension) ? 'weights' : 'text';
}

function createPartBuffers(): PartBuffers {
  return {
    input: Buffer.allocUnsafeSlow(PART_BYTES),
    output: Buffer.allocUnsafeSlow(limitDeflated(PART_BYTES)),
  };
}

async function packPart(part: Part, buffers: PartBuffers): Promise<PackedPart> {
  const { source, start, end } = part;
  const { path, size } = source.file;
  const content = source.read(buffers.input, start, end);
  // A longer file is closed once its last part is written.
  if (start === 0 && end === size) source.close();
  const kind = chooseDeflate(path);
  const packed = kind ? await deflatePart(content, kind, end === size, buffers.output) : content;
  return { ...part, buffers, content, packed };
}

/** Bytes that are written at once. */
const WRITE_BYTES = 512 * 1024;

/** The archive that is written. Copies, so that what is appended can be used again. */
class ArchiveFile {
  readonly handle: FileHandle;
  readonly digest = createHash('sha256');
  size = 0;
  readonly #buffer = Buffer.allocUnsafeSlow(WRITE_BYTES);
  #used = 0;

  constructor(handle: FileHandle) {
    this.handle = handle;
  }

  async append(chunk: Buffer): Promise<void> {
    for (let copied = 0; copied < chunk.length; ) {
      const length = chunk.copy(this.#buffer, this.#used, copied);
      copied += length;
      this.#used += length;
      if (this.#used === WRITE_BYTES) await this.flush();
    }
  }

  async flush(): Promise<void> {
    const bytes = this.#buffer.subarray(0, this.#used);
    this.#used = 0;
    this.size += bytes.length;
    this.digest.update(bytes);
    for (let written = 0; written < bytes.length; )
      written += (await this.handle.write(bytes, written)).bytesWritten;
  }
}
