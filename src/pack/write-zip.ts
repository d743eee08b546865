import type { FileMode } from './tree.js';

/** An entry of a zip that is written. The lengths and the checksum are known once its data is written. */
export interface ZipEntry {
  readonly name: Buffer;
  readonly mode: FileMode;
  readonly isDeflated: boolean;
  /** Whether lengths and checksum follow the data, because they were not known before it. */
  readonly isStreamed: boolean;
  /** Where its header begins. */
  readonly offset: number;
  crc32: number;
  compressedSize: number;
  readonly size: number;
}

const MADE_BY_UNIX = (3 << 8) | 63;
const VERSION_DEFLATE = 20;
const VERSION_ZIP64 = 45;
const UTF8_FLAG = 0x800;
const DESCRIPTOR_FLAG = 0x8;
/** The first of February 1980 at midnight, in the format of DOS: the same for every entry. */
const DOS_DATE = 0x41;
const DOS_TIME = 0;
const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;

/** Encodes what precedes the data of an entry. */
export function encodeLocalHeader(entry: Omit<ZipEntry, 'offset'>): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  encodeCommonFields(entry, VERSION_DEFLATE, header, 4);
  if (!entry.isStreamed) encodeSizes(entry, header, 14);
  return Buffer.concat([header, entry.name]);
}

/** Encodes what follows the data of a streamed entry. */
export function encodeDescriptor(entry: Omit<ZipEntry, 'offset'>): Buffer {
  const isLong = entry.size >= MAX_32 || entry.compressedSize >= MAX_32;
  const descriptor = Buffer.alloc(isLong ? 24 : 16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  if (!isLong) encodeSizes(entry, descriptor, 4);
  else {
    descriptor.writeUInt32LE(entry.crc32, 4);
    descriptor.writeBigUInt64LE(BigInt(entry.compressedSize), 8);
    descriptor.writeBigUInt64LE(BigInt(entry.size), 16);
  }
  return descriptor;
}

/** Encodes the directory of all entries, and the records at the end. */
export function encodeDirectory(entries: readonly ZipEntry[], offset: number): Buffer {
  const records = entries.flatMap(encodeDirectoryRecord);
  const size = records.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries.length, MAX_16), 8);
  end.writeUInt16LE(Math.min(entries.length, MAX_16), 10);
  end.writeUInt32LE(Math.min(size, MAX_32), 12);
  end.writeUInt32LE(Math.min(offset, MAX_32), 16);
  const isLong = entries.length >= MAX_16 || size >= MAX_32 || offset >= MAX_32;
  return Buffer.concat([...records, ...(isLong ? [encodeZip64End(entries.length, size, offset)] : []), end]);
}

function encodeDirectoryRecord(entry: ZipEntry): Buffer[] {
  const isLong = [entry.size, entry.compressedSize, entry.offset].some((value) => value >= MAX_32);
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(MADE_BY_UNIX, 4);
  encodeCommonFields(entry, isLong ? VERSION_ZIP64 : VERSION_DEFLATE, record, 6);
  record.writeUInt32LE(entry.crc32, 16);
  record.writeUInt32LE(isLong ? MAX_32 : entry.compressedSize, 20);
  record.writeUInt32LE(isLong ? MAX_32 : entry.size, 24);
  record.writeUInt32LE((Number.parseInt(entry.mode, 8) << 16) >>> 0, 38);
  record.writeUInt32LE(isLong ? MAX_32 : entry.offset, 42);
  if (!isLong) return [record, entry.name];
  const extra = Buffer.alloc(28);
  record.writeUInt16LE(extra.length, 30);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(24, 2);
  extra.writeBigUInt64LE(BigInt(entry.size), 4);
  extra.writeBigUInt64LE(BigInt(entry.compressedSize), 12);
  extra.writeBigUInt64LE(BigInt(entry.offset), 20);
  return [record, entry.name, extra];
}

/** From the version to the time, and the length of the name. */
function encodeCommonFields(
  entry: Omit<ZipEntry, 'offset'>,
  version: number,
  into: Buffer,
  at: number,
): void {
  into.writeUInt16LE(version, at);
  into.writeUInt16LE(UTF8_FLAG | (entry.isStreamed ? DESCRIPTOR_FLAG : 0), at + 2);
  into.writeUInt16LE(entry.isDeflated ? 8 : 0, at + 4);
  into.writeUInt16LE(DOS_TIME, at + 6);
  into.writeUInt16LE(DOS_DATE, at + 8);
  into.writeUInt16LE(entry.name.length, at + 22);
}

function encodeSizes(entry: Omit<ZipEntry, 'offset'>, into: Buffer, at: number): void {
  into.writeUInt32LE(entry.crc32, at);
  into.writeUInt32LE(entry.compressedSize, at + 4);
  into.writeUInt32LE(entry.size, at + 8);
}

/** The record for many entries or long archives, and where it begins. */
function encodeZip64End(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(MADE_BY_UNIX, 12);
  end.writeUInt16LE(VERSION_ZIP64, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(offset + size), 64);
  end.writeUInt32LE(1, 72);
  return end;
}
