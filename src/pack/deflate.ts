import { constants, createDeflateRaw, type ZlibOptions } from 'node:zlib';

/** How to deflate. */
export type DeflateKind = 'text' | 'weights';

const SETTINGS: Readonly<Record<DeflateKind, ZlibOptions>> = {
  text: { level: 6 },
  // Some bytes of numbers are more frequent than others, but hardly any sequence occurs twice. As small as
  // with level 6, in a quarter of the time.
  weights: { strategy: constants.Z_RLE },
};

const MIN_WINDOW_BITS = 9;
const MAX_WINDOW_BITS = 15;
/** The part of the window that deflate does not search. */
const UNUSED_WINDOW_BYTES = 512;

/** The most bytes that a deflated part of so many bytes takes: deflate stores what it cannot make smaller. */
export function limitDeflated(bytes: number): number {
  return bytes + 1024;
}

/** What a stream of Node.js writes into, which has no option. */
interface StreamOutput {
  _outBuffer: Buffer;
  _chunkSize: number;
}

/**
 * Deflates a part of a file in a thread; the results for all its parts, one after the other, are one stream. The whole
 * part is one write to a new stream: a stream that is reset gives other bytes, and piping costs more than deflating a
 * small file.
 *
 * @param output where the result is written, at least `limitDeflated` bytes. Streams allocate for each part, and
 *   Node.js 24 collects that only after hundreds of megabytes.
 */
export async function deflatePart(
  part: Buffer,
  kind: DeflateKind,
  isLast: boolean,
  output: Buffer,
): Promise<Buffer> {
  const stream = createDeflateRaw({
    ...SETTINGS[kind],
    windowBits: chooseWindowBits(part.length),
    flush: isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
    chunkSize: constants.Z_MIN_CHUNK,
    // The result is read at once.
    ...{ readableHighWaterMark: 2 * output.length },
  });
  Object.assign(stream, { _outBuffer: output, _chunkSize: output.length } satisfies StreamOutput);
  try {
    await new Promise<void>((resolve, reject) => {
      stream.once('error', reject);
      stream.write(part, (error) => (error ? reject(error) : resolve()));
    });
    return stream.read() as Buffer;
  } finally {
    stream.close();
  }
}

/** A window no longer than the part gives the same result with less memory. */
function chooseWindowBits(length: number): number {
  const bits = Math.ceil(Math.log2(length + UNUSED_WINDOW_BYTES));
  return Math.min(MAX_WINDOW_BITS, Math.max(MIN_WINDOW_BITS, bits));
}
