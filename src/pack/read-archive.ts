import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw, inflateRawSync, constants as zlibConstants } from 'node:zlib';
import type { Entry } from 'yauzl';
import { isZipBomb, type Limits } from '../contract/schema/limits.js';
import { findCollisions, findPathProblem, quoteName } from './path.js';
import { computeTreeDigest, type FileMode, toFileMode } from './tree.js';
import {
  ArchiveRefusal,
  checkZipEnd,
  findEntryData,
  measureEntry,
  openZip,
  readEntryName,
  type Zip,
} from './zip.js';

export type ArchiveLimits = Pick<Limits, 'archive' | 'archiveEntries' | 'archiveUnpacked' | 'archiveRatio'>;

export interface ArchivedFile {
  readonly path: string;
  /** Bytes, counted while unpacking. */
  readonly size: number;
  readonly mode: FileMode;
  /** Hex. */
  readonly sha256: string;
}

export type Inspection =
  | {
      readonly ok: true;
      /** The `computeTreeDigest` of the files. */
      readonly tree: string;
      readonly entries: readonly ArchivedFile[];
      /** Bytes of all files. */
      readonly unpacked: number;
    }
  /** `reason` is a sentence that names the entry and is safe to print. */
  | { readonly ok: false; readonly reason: string };

/** Receives the content of some files in the same pass. */
export interface FileReader {
  /** @param size bytes, as declared by the archive and verified while unpacking */
  wanted(path: string, size: number): boolean;
  /** Receives content with verified size and CRC. Use it only if the whole inspection is ok, because later entries may fail. */
  read(path: string, content: Buffer): void | Promise<void>;
}

/** Receives all files and folders while they are unpacked, so before the rest of the archive was checked. */
export interface ArchiveWriter {
  writeFolder(path: string): void;
  /** Receives a file in parts; an empty one has an empty part. @throws ArchiveRefusal */
  writePart(path: string, mode: FileMode, part: Buffer, isFirst: boolean): Promise<void>;
}

/**
 * Reads an untrusted zip to its end and checks it. Memory is bounded, and problems of the archive are returned, not
 * thrown. Stricter than unpackers: anything that two of them could read differently is refused.
 *
 * @throws what `reader` and `writer` throw, and system errors if the file cannot be read.
 */
export async function inspectArchive(
  path: string,
  limits: ArchiveLimits,
  reader?: FileReader,
  writer?: ArchiveWriter,
): Promise<Inspection> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    if (size === 0) throw new ArchiveRefusal('The archive is empty: it has 0 bytes.');
    if (size > limits.archive)
      throw new ArchiveRefusal(`The archive has ${size} bytes; at most ${limits.archive} are accepted.`);
    return await readEntries(await openZip(handle, size), limits, reader, writer);
  } catch (error) {
    if (error instanceof ArchiveRefusal) return { ok: false, reason: error.message };
    throw error;
  } finally {
    await handle.close();
  }
}

/** All names are in memory until the end; 50,000 may have 335 bytes each. */
const MAX_NAME_BYTES = 16 * 1024 ** 2;

async function readEntries(
  zip: Zip,
  limits: ArchiveLimits,
  reader?: FileReader,
  writer?: ArchiveWriter,
): Promise<Inspection> {
  if (zip.entryCount > limits.archiveEntries)
    throw new ArchiveRefusal(
      `The archive has ${zip.entryCount} entries; at most ${limits.archiveEntries} are accepted.`,
    );
  const budget = createUnpackBudget(zip.size, limits);
  const paths: string[] = [];
  let nameBytes = 0;
  let directoryBytes = 0;
  const entries: ArchivedFile[] = [];
  let cursor = 0;
  for await (const entry of zip.entries()) {
    const name = readEntryName(entry);
    const isFolder = name.endsWith('/');
    const path = isFolder ? name.slice(0, -1) : name;
    const problem = findPathProblem(path) ?? findAttributeProblem(entry, isFolder);
    if (problem) throw new ArchiveRefusal(`The entry ${quoteName(name)} ${problem}.`);
    nameBytes += entry.fileNameLength;
    directoryBytes += measureEntry(entry);
    if (nameBytes > MAX_NAME_BYTES)
      throw new ArchiveRefusal(`The names of the entries have more than ${MAX_NAME_BYTES} bytes together.`);
    // An empty folder collides with a file of the same name, but not with the files in it.
    paths.push(isFolder ? `${path}/.` : path);
    const data = await findEntryData(zip, entry, cursor);
    cursor = data.end;
    const wanted = !isFolder && reader?.wanted(path, entry.uncompressedSize);
    const mode = toFileMode(entry.externalFileAttributes >>> 16);
    if (isFolder) writer?.writeFolder(path);
    const write = isFolder ? undefined : writer?.writePart.bind(writer, path, mode);
    const content = await unpack(zip, entry, data.start, name, budget, { keep: Boolean(wanted), write });
    if (isFolder) continue;
    const { size, sha256 } = content;
    entries.push({ path, size, mode, sha256 });
    if (content.whole) await reader?.read(path, content.whole);
  }
  await checkZipEnd(zip, cursor, cursor + directoryBytes);
  refuseCollisions(paths);
  if (entries.length === 0) throw new ArchiveRefusal('The archive has no files.');
  return { ok: true, tree: computeTreeDigest(entries), entries, unpacked: budget.used };
}

// A Map, because the formatter would rewrite octal object keys.
const FILE_TYPES = new Map([
  [0o120000, 'is a symbolic link'],
  [0o060000, 'is a device'],
  [0o020000, 'is a device'],
  [0o010000, 'is a named pipe'],
  [0o140000, 'is a socket'],
]);

function findAttributeProblem(entry: Entry, isFolder: boolean): string | undefined {
  // Bits 0 and 6 mean encryption, bit 13 masked headers.
  if (entry.generalPurposeBitFlag & 0x2041) return 'is encrypted';
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    return `is compressed with method ${entry.compressionMethod}; only deflate and no compression are supported`;
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & 0o170000;
  // Archives from other systems may have no type.
  if (type !== 0 && type !== (isFolder ? 0o040000 : 0o100000))
    return `${FILE_TYPES.get(type) ?? 'does not have the type that its name implies'}; only regular files and folders are accepted`;
  if (mode & 0o7000) return 'has a special mode (setuid, setgid or sticky)';
  if (isFolder && entry.uncompressedSize !== 0) return 'is a folder with content';
  return undefined;
}

interface Budget {
  used: number;
  /** Counts the bytes that were unpacked, and refuses the archive if there are too many. */
  spend(bytes: number): void;
}

function createUnpackBudget(archiveSize: number, limits: ArchiveLimits): Budget {
  return {
    used: 0,
    spend(bytes) {
      this.used += bytes;
      if (this.used > limits.archiveUnpacked)
        throw new ArchiveRefusal(
          `The archive unpacks to more than the ${limits.archiveUnpacked} bytes accepted.`,
        );
      if (isZipBomb(archiveSize, this.used, limits))
        throw new ArchiveRefusal(
          `The archive unpacks to more than ${limits.archiveRatio} times its size, as a zip bomb does.`,
        );
    },
  };
}

interface Content {
  readonly size: number;
  readonly sha256: string;
  readonly whole?: Buffer;
}

interface UnpackOptions {
  readonly keep: boolean;
  readonly write: ((part: Buffer, isFirst: boolean) => Promise<void>) | undefined;
}

/** Entries of at most this size are decompressed in one step where nothing else waits: a stream takes longer. */
const MAX_STEP_BYTES = 1024 ** 2;

/** Unpacks an entry and compares it with its description in the archive. */
async function unpack(
  zip: Zip,
  entry: Entry,
  start: number,
  name: string,
  budget: Budget,
  { keep, write }: UnpackOptions,
): Promise<Content> {
  const refuse = (what: string) => new ArchiveRefusal(`The entry ${quoteName(name)} ${what}.`);
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let size = 0;
  let crc = 0;
  const takeOne = async (chunk: Buffer) => {
    const isFirst = size === 0;
    size += chunk.length;
    budget.spend(chunk.length);
    if (size > entry.uncompressedSize) throw refuse('unpacks to more bytes than the archive says');
    crc = crc32(chunk, crc);
    hash.update(chunk);
    if (keep) kept.push(chunk);
    if (chunk.length > 0) await write?.(chunk, isFirst);
  };
  const take = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await takeOne(chunk);
  };
  const packed = zip.bytes(start, start + entry.compressedSize);
  if (entry.compressionMethod === 0) {
    await take(packed);
  } else if (write && Math.max(entry.compressedSize, entry.uncompressedSize) <= MAX_STEP_BYTES) {
    const parts: Buffer[] = [];
    for await (const part of packed) parts.push(part);
    await takeOne(inflateWhole(Buffer.concat(parts), entry, refuse));
  } else {
    const inflate = createInflateRaw({ chunkSize: chooseChunkSize(entry.uncompressedSize) });
    try {
      const source = Readable.from(packed, { objectMode: false });
      source.on('error', (error) => inflate.destroy(error)).pipe(inflate);
      // pipeline() would throw an AbortError if bytes follow the deflate stream, and would hide errors of take().
      await take(inflate).finally(() => source.destroy());
    } catch (error) {
      if (!isZlibError(error)) throw error;
      throw refuse(UNREADABLE);
    }
    // Bytes after the end of the deflate stream are not unpacked, so they would not be checked.
    if (inflate.bytesWritten !== entry.compressedSize) throw refuse('has extra bytes after its content');
  }
  if (size === 0) await write?.(Buffer.alloc(0), true);
  if (size !== entry.uncompressedSize) throw refuse('unpacks to fewer bytes than the archive says');
  // yauzl does not check this.
  if (crc !== entry.crc32) throw refuse('has damaged content: its checksum does not match');
  return { size, sha256: hash.digest('hex'), ...(keep && { whole: Buffer.concat(kept) }) };
}

const UNREADABLE = 'has damaged content: it cannot be decompressed';

/** Decompresses a small entry in one step. */
function inflateWhole(packed: Buffer, entry: Entry, refuse: (what: string) => ArchiveRefusal): Buffer {
  // One more than expected, so that longer content is noticed.
  const maxOutputLength = entry.uncompressedSize + 1;
  const options = { info: true, maxOutputLength, chunkSize: chooseChunkSize(maxOutputLength) } as const;
  try {
    const { buffer, engine } = inflateRawSync(packed, options) as unknown as Inflated;
    if (engine.bytesWritten !== entry.compressedSize) throw refuse('has extra bytes after its content');
    return buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw refuse('unpacks to more bytes than the archive says');
    if (!isZlibError(error)) throw error;
    throw refuse(UNREADABLE);
  }
}

/** What zlib returns with `info`, which its types leave out. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** Small entries do not need a buffer of 64 KiB. */
function chooseChunkSize(size: number): number {
  return Math.min(Math.max(size, zlibConstants.Z_MIN_CHUNK), 64 * 1024);
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && /^Z_/.test(String((error as NodeJS.ErrnoException).code));
}

const COLLISION_WORDS = {
  same: 'is in the archive twice',
  case: 'differs only in case from',
  folder: 'is in a folder with the same name as the file',
};

function refuseCollisions(paths: readonly string[]): void {
  const [first] = findCollisions(paths);
  if (!first) return;
  const other = first.kind === 'same' ? '' : ` ${quoteName(first.with)}`;
  throw new ArchiveRefusal(`The entry ${quoteName(first.path)} ${COLLISION_WORDS[first.kind]}${other}.`);
}
