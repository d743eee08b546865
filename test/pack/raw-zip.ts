import { crc32, deflateRawSync } from 'node:zlib';

/** One entry, with the power to lie about everything. What is absent is as it should be. */
export interface RawEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  readonly method?: number;
  readonly flags?: number;
  /** Unix mode with its file type; 0o100644 where absent. */
  readonly mode?: number;
  readonly crc?: number;
  readonly compressedSize?: number;
  readonly size?: number;
  /** What stands between the local header and the next. */
  readonly data?: Buffer;
  readonly localName?: string;
  readonly extra?: Buffer;
  /** Where the directory says that the local header is. */
  readonly offset?: number;
}

export interface RawArchive {
  readonly before?: Buffer;
  readonly betweenDataAndDirectory?: Buffer;
  readonly afterDirectory?: Buffer;
  readonly comment?: Buffer;
  readonly after?: Buffer;
  readonly entryCount?: number;
}

/** Writes a zip byte by byte: what well-behaved libraries refuse to write. */
export function createRawZip(entries: readonly RawEntry[], archive: RawArchive = {}): Buffer {
  const parts: Buffer[] = [archive.before ?? Buffer.alloc(0)];
  const directory: Buffer[] = [];
  let offset = parts[0]?.length ?? 0;
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? '');
    const method = entry.method ?? 8;
    const data = entry.data ?? (method === 8 ? deflateRawSync(content) : content);
    const name = Buffer.from(entry.name as string);
    const local = createHeader(
      entry,
      method,
      content,
      data,
      entry.localName ? Buffer.from(entry.localName) : name,
    );
    const central = createHeader(entry, method, content, data, name);
    const start = entry.offset ?? offset;
    parts.push(Buffer.concat([decodeHex('50 4b 03 04 14 00'), local.fixed, local.name, data]));
    directory.push(
      Buffer.concat([
        decodeHex('50 4b 01 02 3f 03 14 00'),
        central.fixed,
        encodeU16(0),
        encodeU16(0),
        encodeU16(0),
        encodeU32(((entry.mode ?? 0o100644) << 16) >>> 0),
        encodeU32(start),
        central.name,
        entry.extra ?? Buffer.alloc(0),
      ]),
    );
    if (entry.extra) directory[directory.length - 1]?.writeUInt16LE(entry.extra.length, 30);
    offset += 30 + local.name.length + data.length;
  }
  parts.push(archive.betweenDataAndDirectory ?? Buffer.alloc(0));
  const directoryStart = offset + (archive.betweenDataAndDirectory?.length ?? 0);
  const all = Buffer.concat(directory);
  const count = archive.entryCount ?? entries.length;
  const comment = archive.comment ?? Buffer.alloc(0);
  return Buffer.concat([
    ...parts,
    all,
    archive.afterDirectory ?? Buffer.alloc(0),
    decodeHex('50 4b 05 06 00 00 00 00'),
    encodeU16(count),
    encodeU16(count),
    encodeU32(all.length),
    encodeU32(directoryStart),
    encodeU16(comment.length),
    comment,
    archive.after ?? Buffer.alloc(0),
  ]);
}

function createHeader(entry: RawEntry, method: number, content: Buffer, data: Buffer, name: Buffer) {
  return {
    name,
    fixed: Buffer.concat([
      encodeU16(entry.flags ?? 0x800),
      encodeU16(method),
      encodeU16(0),
      encodeU16(0x21),
      encodeU32(entry.crc ?? crc32(content)),
      encodeU32(entry.compressedSize ?? data.length),
      encodeU32(entry.size ?? content.length),
      encodeU16(name.length),
      encodeU16(0),
    ]),
  };
}

export function encodeU16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeUInt16LE(value);
  return buffer;
}

export function encodeU32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function decodeHex(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}
