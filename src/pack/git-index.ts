/** A path that git tracks. */
export interface IndexEntry {
  /** Relative to the checkout, with `/`; ends in one if the mode is that of a folder. */
  readonly path: string;
  readonly mode: number;
}

/** Modes of entries that are not files. */
export const SUBMODULE = 0o160000;
/** A folder outside a sparse checkout, in place of its files. */
export const SPARSE_FOLDER = 0o040000;

/** The sum of the lengths of all paths in one index, which one of version 4 stores in far fewer bytes. */
const MAX_PATH_BYTES = 128 * 1024 ** 2;

/**
 * Lists the entries of an index, versions 2 to 4 (gitformat-index). git is not run for it, because git obeys the
 * configuration of the checkout, which may name programs.
 *
 * @param hashBytes 20, or 32 in a repository with SHA-256
 * @param readShared reads the index with that name, of which a split index is the difference
 * @throws RangeError if it is not an index
 */
export function readIndex(
  bytes: Buffer,
  hashBytes: number,
  readShared: (name: string) => Buffer,
): IndexEntry[] {
  const { entries, link } = parseIndex(bytes, hashBytes);
  const base = link?.toString('hex', 0, hashBytes);
  if (!link || !base || /^0+$/.test(base)) return entries;
  const shared = parseIndex(readShared(`sharedindex.${base}`), hashBytes).entries;
  const deleted = readBitmap(link, hashBytes, shared.length);
  const replaced = readBitmap(link, deleted.end, shared.length);
  // An entry that replaces one has no path; they are in the order of those.
  const replacements = entries.filter(({ path }) => path === '').values();
  const kept = shared.flatMap(({ path, mode }, at) => {
    const { mode: own } = (replaced.bits.has(at) && replacements.next().value) || { mode };
    return deleted.bits.has(at) ? [] : [{ path, mode: own }];
  });
  return [...kept, ...entries.filter(({ path }) => path !== '')];
}

function parseIndex(bytes: Buffer, hashBytes: number): { entries: IndexEntry[]; link?: Buffer | undefined } {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4)
    throw new RangeError('it is not an index of version 2, 3 or 4');
  const entries: IndexEntry[] = [];
  let at = 12;
  let name = Buffer.alloc(0);
  let pathBytes = 0;
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const start = at;
    const mode = bytes.readUInt32BE(start + 24);
    const flags = start + 40 + hashBytes;
    at = flags + (bytes.readUInt16BE(flags) & 0x4000 ? 4 : 2);
    let kept = 0;
    if (version === 4) {
      const cut = readVariableNumber(bytes, at);
      at = cut.end;
      kept = name.length - cut.value;
    }
    const end = bytes.indexOf(0, at);
    if (end < 0 || kept < 0) throw new RangeError('it is damaged');
    name = Buffer.concat([name.subarray(0, kept), bytes.subarray(at, end)]);
    pathBytes += name.length;
    if (pathBytes > MAX_PATH_BYTES) throw new RangeError('its paths are too long');
    entries.push({ path: name.toString(), mode });
    at = version === 4 ? end + 1 : end + 8 - ((end - start) % 8);
  }
  return { entries, link: findLink(bytes, at, bytes.length - hashBytes) };
}

/** Finds the extension that makes it a split index. What begins with a small letter must be understood. */
function findLink(bytes: Buffer, start: number, end: number): Buffer | undefined {
  for (let at = start; at < end; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const next = at + 8 + bytes.readUInt32BE(at + 4);
    if (name === 'link') return bytes.subarray(at + 8, next);
    if (/^[a-z]/.test(name) && name !== 'sdir') throw new RangeError(`it uses ${name}, which is not known`);
    at = next;
  }
  return undefined;
}

function readVariableNumber(bytes: Buffer, start: number): { value: number; end: number } {
  let end = start;
  let byte = bytes.readUInt8(end++);
  let value = byte & 127;
  while (byte & 128) {
    byte = bytes.readUInt8(end++);
    value = (value + 1) * 128 + (byte & 127);
  }
  return { value, end };
}

/** Reads a compressed bitmap (EWAH) with up to `count` bits: words that repeat one bit, each followed by literal words. */
function readBitmap(bytes: Buffer, start: number, count: number): { bits: Set<number>; end: number } {
  const bits = new Set<number>();
  if (start >= bytes.length) return { bits, end: start };
  const end = start + 8 + bytes.readUInt32BE(start + 4) * 8;
  let bit = 0;
  for (let at = start + 8; at < end && bit < count; ) {
    const word = bytes.readBigUInt64BE(at);
    const repeatedEnd = bit + Number((word >> 1n) & 0xffffffffn) * 64;
    if (word & 1n) for (; bit < Math.min(repeatedEnd, count); bit++) bits.add(bit);
    bit = repeatedEnd;
    at += 8;
    for (let left = Number(word >> 33n); left > 0 && bit < count; left--, at += 8, bit += 64) {
      const literal = bytes.readBigUInt64BE(at);
      for (let one = 0; one < 64; one++) if ((literal >> BigInt(one)) & 1n) bits.add(bit + one);
    }
  }
  // The position of the last repeating word follows.
  return { bits, end: end + 4 };
}
