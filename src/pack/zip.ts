import type { FileHandle } from 'node:fs/promises';
import {
  type Entry,
  fromRandomAccessReader,
  getFileNameLowLevel,
  RandomAccessReader,
  type ZipFile,
} from 'yauzl';
import { quoteName } from './path.js';

/** Why an archive is not accepted, as a sentence. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** A zip whose directory is read by yauzl and whose data is read here. */
export interface Zip {
  readonly size: number;
  readonly entryCount: number;
  /** Where the directory says that it begins. */
  readonly directoryStart: number;
  readonly file: ZipFile;
  /** @throws Refusal where the directory is damaged. */
  entries(): AsyncGenerator<Entry>;
  /** The raw bytes from `start` to before `end`. */
  bytes(start: number, end: number): AsyncGenerator<Buffer>;
}

/**
 * @param size of the file, bytes
 * @throws Refusal where it is not a zip
 */
export async function openZip(handle: FileHandle, size: number): Promise<Zip> {
  const reader = new BoundedReader(handle, size);
  const file = await new Promise<ZipFile>((resolve, reject) => {
    const options = {
      autoClose: false,
      lazyEntries: true,
      decodeStrings: false,
      validateEntrySizes: false,
    };
    fromRandomAccessReader(reader, size, options, (error, zip) => (error ? reject(error) : resolve(zip)));
  }).catch((error: unknown) => {
    throw refusalOf(error, 'The file is not a zip archive, or was cut short');
  });
  return {
    size,
    entryCount: file.entryCount,
    directoryStart: internals(file).readEntryCursor,
    file,
    async *entries() {
      try {
        yield* file.eachEntry();
      } catch (error) {
        throw refusalOf(error, "The archive's directory is damaged");
      }
    },
    bytes: (start, end) => readRange(handle, start, end),
  };
}

/** What the declared types call a boolean and a string; with `decodeStrings: false` they are these. */
function internals(file: ZipFile): { readEntryCursor: number; comment: Buffer } {
  return file as unknown as { readEntryCursor: number; comment: Buffer };
}

/** The system's own errors stay what they are; anything that yauzl finds wrong is the archive's fault. */
function refusalOf(error: unknown, sentence: string): unknown {
  if (error instanceof Refusal || (error as NodeJS.ErrnoException).syscall) return error;
  return new Refusal(`${sentence} (${error instanceof Error ? error.message : error}).`);
}

async function* readRange(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end; ) {
    const length = Math.min(64 * 1024, end - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw new Refusal('The archive was cut short while it was read.');
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/**
 * Answers yauzl's reads. A trap lies in its own reader: offsets beyond 2^53, which a hostile directory can name, make
 * `fs.read` throw inside a callback, and that ends the process. Here they are errors like any other.
 */
class BoundedReader extends RandomAccessReader {
  readonly #handle: FileHandle;
  readonly #size: number;

  constructor(handle: FileHandle, size: number) {
    super();
    this.#handle = handle;
    this.#size = size;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    if (position < 0 || position + length > this.#size) {
      setImmediate(callback, new Error('it points outside the file'));
      return;
    }
    this.#handle.read(buffer, offset, length, position).then(
      ({ bytesRead }) => callback(null, bytesRead),
      (error: Error) => callback(error),
    );
  }

  override close(callback: (error: Error | null) => void): void {
    setImmediate(callback, null);
  }
}

const UTF8_FLAG = 0x800;

/** The entry's name, refused where two unpackers could read it differently. */
export function entryName(entry: Entry): string {
  const raw = entry.fileNameRaw;
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, raw, [], true);
  const ambiguous = (why: string) => new Refusal(`The name of the entry ${quoteName(name)} ${why}.`);
  if (!(entry.generalPurposeBitFlag & UTF8_FLAG) && raw.some((byte) => byte > 0x7f))
    throw ambiguous('is not ASCII and not marked as UTF-8');
  if (!Buffer.from(name).equals(raw)) throw ambiguous('is not valid UTF-8');
  if (getFileNameLowLevel(entry.generalPurposeBitFlag, raw, entry.extraFields, true) !== name)
    throw ambiguous('has a second spelling in an extra field');
  return name;
}

const DESCRIPTOR_FLAG = 0x8;
const MEANING_FLAGS = 0x2041 | UTF8_FLAG;
const UNKNOWN_32 = 0xffffffff;

/**
 * Where the entry's data lies. Entries must follow each other without gap or overlap: overlaps are how small
 * archives unpack to endless data, and gaps hide what no scan sees.
 *
 * @param cursor where the entry before it ended
 */
export async function entryPlace(
  zip: Zip,
  entry: Entry,
  cursor: number,
): Promise<{ start: number; end: number }> {
  const refuse = (what: string) =>
    new Refusal(`The entry ${quoteName(entry.fileNameRaw.toString())} ${what}.`);
  if (entry.relativeOffsetOfLocalHeader !== cursor)
    throw refuse(
      entry.relativeOffsetOfLocalHeader < cursor
        ? 'overlaps another entry'
        : 'comes after bytes that belong to no entry',
    );
  const local = await zip.file.readLocalFileHeaderPromise(entry).catch((error: unknown) => {
    throw refusalOf(error, `The entry ${quoteName(entry.fileNameRaw.toString())} is damaged`);
  });
  const streamed = Boolean(local.generalPurposeBitFlag & DESCRIPTOR_FLAG);
  const agree =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    (local.generalPurposeBitFlag & MEANING_FLAGS) === (entry.generalPurposeBitFlag & MEANING_FLAGS) &&
    (streamed || sizesAgree(local, entry));
  if (!agree) throw refuse("is described differently in the archive's directory and before its content");
  const dataEnd = local.fileDataStart + entry.compressedSize;
  return { start: local.fileDataStart, end: streamed ? await descriptorEnd(zip, entry, dataEnd) : dataEnd };
}

function sizesAgree(
  local: { crc32: number; compressedSize: number; uncompressedSize: number },
  entry: Entry,
): boolean {
  return (
    local.crc32 === entry.crc32 &&
    [entry.compressedSize, UNKNOWN_32].includes(local.compressedSize) &&
    [entry.uncompressedSize, UNKNOWN_32].includes(local.uncompressedSize)
  );
}

/** A data descriptor has 12 to 24 bytes: with or without signature, with sizes of 4 or 8 bytes. */
async function descriptorEnd(zip: Zip, entry: Entry, dataEnd: number): Promise<number> {
  const bytes = await readUpTo(zip, dataEnd, 28);
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(entry.crc32);
  for (const prefix of [Buffer.from('PK\x07\x08'), Buffer.alloc(0)]) {
    for (const width of [4, 8] as const) {
      const sizes = Buffer.concat(
        [entry.compressedSize, entry.uncompressedSize].map((n) => integer(n, width)),
      );
      const descriptor = Buffer.concat([prefix, crc, sizes]);
      // What follows must be the next header, else eight zero bytes of an empty entry could be taken for sizes of four.
      const next = bytes.subarray(descriptor.length, descriptor.length + 2);
      if (bytes.subarray(0, descriptor.length).equals(descriptor) && next.equals(Buffer.from('PK')))
        return dataEnd + descriptor.length;
    }
  }
  throw new Refusal(`The entry ${quoteName(entry.fileNameRaw.toString())} does not end as the archive says.`);
}

function integer(value: number, width: 4 | 8): Buffer {
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

const END_RECORD = 22;
const ZIP64_END_RECORDS = 56 + 20;

/** Checks that the directory begins where the last entry ended and that only the end records follow it. */
export async function zipEnd(zip: Zip, cursor: number): Promise<void> {
  if (zip.directoryStart !== cursor)
    throw new Refusal("Bytes that belong to no entry come before the archive's directory.");
  const { readEntryCursor, comment } = internals(zip.file);
  const rest = zip.size - readEntryCursor - END_RECORD - comment.length;
  const signature = await readUpTo(zip, readEntryCursor, 4);
  const zip64 = rest === ZIP64_END_RECORDS && signature.equals(Buffer.from('PK\x06\x06'));
  if (rest !== 0 && !zip64)
    throw new Refusal("Bytes that belong to no entry follow the archive's directory.");
}
