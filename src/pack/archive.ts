import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, constants as fsConstants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { PackFile } from './files.js';
import { quoteName } from './path.js';
import { PackError } from './problem.js';
import { computeTreeDigest, sortByPath, type TreeEntry } from './tree.js';

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
  /** Called for every chunk read, so it must be fast. */
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
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
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
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const tree: TreeEntry[] = [];
  const fail = (error: unknown) => output.destroy(error as Error);
  zip.on('error', fail);

  const totalBytes = files.reduce((sum, file) => sum + file.size, 0);
  let bytes = 0;
  const onChunk = (size: number) => {
    bytes += size;
    onProgress?.({ files: tree.length, totalFiles: files.length, bytes, totalBytes });
  };
  for (const file of files) {
    // yazl requests one file at a time, so only one is open and in memory.
    zip.addReadStreamLazy(file.path, entryOptions(file), (give) => {
      openUnchanging(file, onChunk, (sha256) => tree.push({ path: file.path, mode: file.mode, sha256 })).then(
        (stream) => give(null, stream.on('error', fail)),
        fail,
      );
    });
  }
  zip.end();

  const digest = createHash('sha256');
  let size = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(output, measure, createWriteStream(path, { flags: 'wx' }), { signal });
  onProgress?.({ files: tree.length, totalFiles: files.length, bytes, totalBytes });
  return {
    size,
    sha256: digest.digest('hex'),
    tree: computeTreeDigest(tree),
    entries: files.length,
    unpacked: totalBytes,
  };
}

/** Files that deflate cannot make smaller, by name, so that the choice does not depend on the content. */
const COMPRESSED =
  /^\.(?:png|jpe?g|webp|avif|gif|mp[34]|m4a|webm|mov|ogg|flac|woff2?|zip|gz|bz2|xz|7z|whl|npz|safetensors|ckpt|pth?|onnx|gguf)$/i;

function entryOptions(file: PackFile) {
  return {
    size: file.size,
    compress: !COMPRESSED.test(extname(file.path)),
    mode: Number.parseInt(file.mode, 8),
    // yazl writes local time, and by default an extra field in UTC. This is the same midnight everywhere; the first of
    // January would be clamped if the time zone changed after yazl was loaded.
    mtime: new Date(1980, 1, 1),
    forceDosTimestamp: true,
  };
}

/** Opens a file and hashes it while it is read. Fails if it is not the chosen file, or changes while it is read. */
async function openUnchanging(
  file: PackFile,
  onChunk: (size: number) => void,
  onEnd: (sha256: string) => void,
): Promise<Readable> {
  const toChangedError = () =>
    new PackError(
      `${quoteName(file.path)} changed while it was packed. Try again when no program is writing to it.`,
    );
  const handle = await openRegularFile(file);
  try {
    const before = await handle.stat();
    if (!before.isFile() || before.size !== file.size) throw toChangedError();
    const hash = createHash('sha256');
    let seen = 0;
    const check = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        seen += chunk.length;
        if (seen > file.size) return done(toChangedError());
        hash.update(chunk);
        onChunk(chunk.length);
        done(null, chunk);
      },
      async flush(done) {
        const after = await handle.stat().catch(() => undefined);
        await handle.close().catch(() => undefined);
        if (!after || seen !== file.size || after.size !== before.size || after.mtimeMs !== before.mtimeMs)
          return done(toChangedError());
        onEnd(hash.digest('hex'));
        done();
      },
    });
    const source = handle.createReadStream({ autoClose: false });
    source.on('error', () => check.destroy(toUnreadableError(file)));
    check.on('close', () => void handle.close().catch(() => undefined));
    return source.pipe(check);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openRegularFile(file: PackFile): Promise<FileHandle> {
  // If the file was replaced by a link or a pipe, opening it must neither follow the link nor block.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fsConstants;
  try {
    return await open(file.absolute, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    throw toUnreadableError(file);
  }
}

function toUnreadableError(file: PackFile): PackError {
  return new PackError(
    `${quoteName(file.path)} cannot be read: it was removed, or you do not have permission.`,
  );
}
