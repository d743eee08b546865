import type { FileHandle } from 'node:fs/promises';
import {
  type Entry,
  fromRandomAccessReader,
  getFileNameLowLevel,
  RandomAccessReader,
  type ZipFile,
} from 'yauzl';
import { isMachineTrouble } from '../disk/machine-trouble.js';
import { quoteName } from './path.js';

/** The reason why an archive is not accepted, as a sentence. */
export class ArchiveRefusal extends Error {
  override readonly name = 'ArchiveRefusal';
}

/** A zip. yauzl reads its directory, and this module reads its data. */
export interface Zip {
  readonly size: number;
  readonly entryCount: number;
  readonly file: ZipFile;
  /** @throws ArchiveRefusal if the directory is damaged. */
  entries(): AsyncGenerator<Entry>;
  /** Reads the raw bytes from `start` to before `end`. */
  bytes(start: number, end: number): AsyncGenerator<Buffer>;
}

/**
 * @param size of the file, bytes
 * @throws ArchiveRefusal if it is not a zip
 */
export async function openZip(handle: FileHandle, size: number): Promise<Zip> {
  const reader = new WindowReader(handle, size);
  const file = await new Promise<ZipFile>((resolve, reject) => {
    const options = {
      autoClose: false,
      lazyEntries: true,
      decodeStrings: false,
      validateEntrySizes: false,
    };
    fromRandomAccessReader(new BoundedReader(reader), size, options, (error, zip) =>
      error ? reject(error) : resolve(zip),
    );
  }).catch((error: unknown) => {
    throw toRefusal(error, 'The file is not a zip archive, or is truncated');
  });
  return {
    size,
    entryCount: file.entryCount,
    file,
    async *entries() {
      try {
        yield* file.eachEntry();
      } catch (error) {
        throw toRefusal(error, "The archive's directory is damaged");
      }
    },
    bytes: (start, end) => readRange(reader, start, end),
  };
}

/** Converts an error of yauzl to a refusal of the archive; system errors are returned unchanged. */
function toRefusal(error: unknown, sentence: string): unknown {
  if (error instanceof ArchiveRefusal || (error as NodeJS.ErrnoException).syscall || isMachineTrouble(error))
    return error;
  return new ArchiveRefusal(`${sentence} (${error instanceof Error ? error.message : error}).`);
}

interface Window {
  readonly start: number;
  readonly bytes: Buffer;
}

/**
 * Reads a file in windows, because each read wakes a thread, and descriptions and small files lie side by side: one window
 * is in the directory, and one in the data.
 */
class WindowReader {
  readonly #handle: FileHandle;
  readonly size: number;
  #windows: readonly Window[] = [];

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  /** Reads at least one byte, and at most `length`. Later reads do not change what it returns. */
  async read(position: number, length: number): Promise<Buffer> {
    // A description is in one window.
    const end = position + Math.min(length, DESCRIPTION_BYTES);
    const isIn = ({ start, bytes }: Window) => start <= position && end <= start + bytes.length;
    const { start, bytes } = this.#windows.find(isIn) ?? (await this.#open(position));
    return bytes.subarray(position - start, position - start + length);
  }

  async #open(start: number): Promise<Window> {
    const buffer = Buffer.allocUnsafe(Math.min(WINDOW_BYTES, this.size - start));
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, start);
    if (bytesRead === 0) throw new ArchiveRefusal('The archive was truncated while it was read.');
    const opened = { start, bytes: buffer.subarray(0, bytesRead) };
    // The oldest goes.
    this.#windows = [opened, ...this.#windows.slice(0, 1)];
    return opened;
  }
}

const WINDOW_BYTES = 64 * 1024;
const DESCRIPTION_BYTES = 1024;

async function* readRange(reader: WindowReader, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end; ) {
    const part = await reader.read(position, end - position);
    yield part;
    position += part.length;
  }
}

/**
 * Reads for yauzl. With its own reader, offsets above 2^53, which a hostile directory can contain, make `fs.read` throw
 * inside a callback, which ends the process. Here they are normal errors.
 */
class BoundedReader extends RandomAccessReader {
  readonly #reader: WindowReader;

  constructor(reader: WindowReader) {
    super();
    this.#reader = reader;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    if (position < 0 || position + length > this.#reader.size) {
      setImmediate(callback, new Error('it points outside the file'));
      return;
    }
    this.#copy(buffer, offset, length, position).then(
      (copied) => callback(null, copied),
      (error: Error) => callback(error),
    );
  }

  async #copy(buffer: Buffer, offset: number, length: number, position: number): Promise<number> {
    let copied = 0;
    while (copied < length)
      copied += (await this.#reader.read(position + copied, length - copied)).copy(buffer, offset + copied);
    return copied;
  }

  override close(callback: (error: Error | null) => void): void {
    setImmediate(callback, null);
  }
}

const UTF8_FLAG = 0x800;

/** Reads the name of an entry. Refused if two unpackers could read it differently. */
export function readEntryName(entry: Entry): string {
  const raw = entry.fileNameRaw;
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, raw, [], true);
  const refuse = (why: string) => new ArchiveRefusal(`The name of the entry ${quoteName(name)} ${why}.`);
  if (!(entry.generalPurposeBitFlag & UTF8_FLAG) && raw.some((byte) => byte > 0x7f))
    throw refuse('is neither ASCII nor marked as UTF-8');
  if (!Buffer.from(name).equals(raw)) throw refuse('is not valid UTF-8');
  if (getFileNameLowLevel(entry.generalPurposeBitFlag, raw, entry.extraFields, true) !== name)
    throw refuse('has a second spelling in an extra field');
  return name;
}

const DESCRIPTOR_FLAG = 0x8;
const MEANING_FLAGS = 0x2041 | UTF8_FLAG;
const UNKNOWN_32 = 0xffffffff;

/**
 * Finds the data of an entry. Entries must follow each other without gaps or overlaps: overlaps let small archives unpack
 * to huge data, and gaps hide data from scans.
 *
 * @param cursor the end of the previous entry
 */
export async function findEntryData(
  zip: Zip,
  entry: Entry,
  cursor: number,
): Promise<{ start: number; end: number }> {
  const refuse = (what: string) =>
    new ArchiveRefusal(`The entry ${quoteName(entry.fileNameRaw.toString())} ${what}.`);
  if (entry.relativeOffsetOfLocalHeader !== cursor)
    throw refuse(
      entry.relativeOffsetOfLocalHeader < cursor
        ? 'overlaps another entry'
        : 'follows bytes that do not belong to any entry',
    );
  const local = await zip.file.readLocalFileHeaderPromise(entry).catch((error: unknown) => {
    throw toRefusal(error, `The entry ${quoteName(entry.fileNameRaw.toString())} is damaged`);
  });
  const streamed = Boolean(local.generalPurposeBitFlag & DESCRIPTOR_FLAG);
  const matches =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    (local.generalPurposeBitFlag & MEANING_FLAGS) === (entry.generalPurposeBitFlag & MEANING_FLAGS) &&
    (streamed || sizesMatch(local, entry));
  if (!matches) throw refuse("is described differently in the archive's directory and before its content");
  const dataEnd = local.fileDataStart + entry.compressedSize;
  return {
    start: local.fileDataStart,
    end: streamed ? await findDescriptorEnd(zip, entry, dataEnd) : dataEnd,
  };
}

function sizesMatch(
  local: { crc32: number; compressedSize: number; uncompressedSize: number },
  entry: Entry,
): boolean {
  return (
    local.crc32 === entry.crc32 &&
    [entry.compressedSize, UNKNOWN_32].includes(local.compressedSize) &&
    [entry.uncompressedSize, UNKNOWN_32].includes(local.uncompressedSize)
  );
}

/** A data descriptor has 12 to 24 bytes: with or without a signature, with sizes of 4 or 8 bytes. */
async function findDescriptorEnd(zip: Zip, entry: Entry, dataEnd: number): Promise<number> {
  const bytes = await readUpTo(zip, dataEnd, 28);
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(entry.crc32);
  for (const prefix of [Buffer.from('PK\x07\x08'), Buffer.alloc(0)]) {
    for (const width of [4, 8] as const) {
      const sizes = Buffer.concat(
        [entry.compressedSize, entry.uncompressedSize].map((n) => encodeInteger(n, width)),
      );
      const descriptor = Buffer.concat([prefix, crc, sizes]);
      // The next header must follow. Otherwise, 8 zero bytes of an empty entry could be mistaken for two sizes of 4 bytes.
      const next = bytes.subarray(descriptor.length, descriptor.length + 2);
      if (bytes.subarray(0, descriptor.length).equals(descriptor) && next.equals(Buffer.from('PK')))
        return dataEnd + descriptor.length;
    }
  }
  throw new ArchiveRefusal(
    `The entry ${quoteName(entry.fileNameRaw.toString())} does not end where the archive says.`,
  );
}

function encodeInteger(value: number, width: 4 | 8): Buffer {
  const buffer = Buffer.alloc(width);
  if (width === 8) buffer.writeBigUInt64LE(BigInt(value));
  else buffer.writeUInt32LE(value % 2 ** 32);
  return buffer;
}

async function readUpTo(zip: Zip, start: number, length: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of zip.bytes(start, Math.min(start + length, zip.size))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const END_RECORD_BYTES = 22;
/** Of the records of zip64 before it. */
const LOCATOR_BYTES = 20;
const RECORD64_BYTES = 56;

export function measureEntry({ fileNameLength, extraFieldLength, fileCommentLength }: Entry): number {
  return 46 + fileNameLength + extraFieldLength + fileCommentLength;
}

/**
 * Checks that the directory begins at the end of the last entry, and that only the end records follow it.
 * @param directoryEnd where it ends, if it begins there
 */
export async function checkZipEnd(zip: Zip, cursor: number, directoryEnd: number): Promise<void> {
  const refuse = (where: string) => new ArchiveRefusal(`The archive has extra bytes ${where} its directory.`);
  const endAt = zip.size - END_RECORD_BYTES - zip.file.comment.length;
  if ((await readDirectoryStart(zip, endAt)) !== cursor) throw refuse('before');
  const isZip64 =
    endAt - directoryEnd === RECORD64_BYTES + LOCATOR_BYTES &&
    (await readUpTo(zip, directoryEnd, 4)).equals(Buffer.from('PK\x06\x06'));
  if (endAt !== directoryEnd && !isZip64) throw refuse('after');
}

/** Reads where the directory begins out of the end records, as yauzl did. */
async function readDirectoryStart(zip: Zip, endAt: number): Promise<number> {
  const at = endAt - LOCATOR_BYTES;
  const locator = at < 0 ? undefined : await readUpTo(zip, at, LOCATOR_BYTES);
  if (locator?.readUInt32LE() !== 0x07064b50)
    return (await readUpTo(zip, endAt, END_RECORD_BYTES)).readUInt32LE(16);
  const recordAt = Number(locator.readBigUInt64LE(8));
  return Number((await readUpTo(zip, recordAt, RECORD64_BYTES)).readBigUInt64LE(48));
}
