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
  /** SHA-256 of the archive, 64 lowercase hex digits. Another build of zlib may give other bytes for the same tree. */
  readonly sha256: string;
  /** The `computeTreeDigest` of the files; reading the archive back gives the same. */
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
  /** Called for every chunk read: cheap work only. */
  readonly onProgress?: (progress: ArchiveProgress) => void;
}

/**
 * Writes the files as a zip to `target`, under a temporary name beside it until it is whole. The same files give the
 * same bytes on the same machine, whenever and in whatever order. Memory does not grow with the files.
 *
 * @throws PackError where a file vanished or changed while it was read; the signal's reason when aborted. Nothing is
 *   left behind then, and an older `target` stays as it was.
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
    // yazl asks for one file at a time, so that one is open and in memory at once.
    zip.addReadStreamLazy(file.path, entryOptions(file), (give) => {
      openUnchanging(file, onChunk, (sha256) => tree.push({ path: file.path, mode: file.mode, sha256 })).then(
        (stream) => give(null, stream.on('error', fail)),
        fail,
      );
    });
  }
  zip.end();

  const whole = createHash('sha256');
  let size = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      whole.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(output, measure, createWriteStream(path, { flags: 'wx' }), { signal });
  onProgress?.({ files: tree.length, totalFiles: files.length, bytes, totalBytes });
  return {
    size,
    sha256: whole.digest('hex'),
    tree: computeTreeDigest(tree),
    entries: files.length,
    unpacked: totalBytes,
  };
}

/** What deflate cannot make smaller; decided by name, so that it does not depend on the content. */
const COMPRESSED =
  /^\.(?:png|jpe?g|webp|avif|gif|mp[34]|m4a|webm|mov|ogg|flac|woff2?|zip|gz|bz2|xz|7z|whl|npz|safetensors|ckpt|pth?|onnx|gguf)$/i;

function entryOptions(file: PackFile) {
  return {
    size: file.size,
    compress: !COMPRESSED.test(extname(file.path)),
    mode: Number.parseInt(file.mode, 8),
    // yazl writes local time, and an extra field in UTC unless told not to. This gives the same midnight anywhere; the
    // first of January would be clamped where the time zone changed since yazl was loaded.
    mtime: new Date(1980, 1, 1),
    forceDosTimestamp: true,
  };
}

/** The file's content, hashed on its way and refused if it is not the file that was chosen, or changes while it is read. */
async function openUnchanging(
  file: PackFile,
  onChunk: (size: number) => void,
  onEnd: (sha256: string) => void,
): Promise<Readable> {
  const changed = () =>
    new PackError(
      `${quoteName(file.path)} changed while it was packed: try again when nothing writes to it.`,
    );
  const handle = await openOrdinary(file);
  try {
    const before = await handle.stat();
    if (!before.isFile() || before.size !== file.size) throw changed();
    const hash = createHash('sha256');
    let seen = 0;
    const check = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        seen += chunk.length;
        if (seen > file.size) return done(changed());
        hash.update(chunk);
        onChunk(chunk.length);
        done(null, chunk);
      },
      async flush(done) {
        const after = await handle.stat().catch(() => undefined);
        await handle.close().catch(() => undefined);
        if (!after || seen !== file.size || after.size !== before.size || after.mtimeMs !== before.mtimeMs)
          return done(changed());
        onEnd(hash.digest('hex'));
        done();
      },
    });
    const source = handle.createReadStream({ autoClose: false });
    source.on('error', () => check.destroy(unreadable(file)));
    check.on('close', () => void handle.close().catch(() => undefined));
    return source.pipe(check);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openOrdinary(file: PackFile): Promise<FileHandle> {
  // A link or pipe put in the file's place since it was chosen must neither lead elsewhere nor hang.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fsConstants;
  try {
    return await open(file.absolute, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    throw unreadable(file);
  }
}

function unreadable(file: PackFile): PackError {
  return new PackError(`${quoteName(file.path)} cannot be read: it vanished, or you may not read it.`);
}
