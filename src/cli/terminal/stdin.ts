import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { usage } from './failure.js';

const MAX_BYTES = 256 * 1024 ** 2;

/** Reads a whole stream as text; refuses more than any request needs. */
export async function readAll(stream: AsyncIterable<string | Uint8Array>): Promise<string> {
  return (await readBytes(stream)).toString('utf8');
}

/** Reads a whole stream; refuses more than any request needs. */
export async function readBytes(stream: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > MAX_BYTES) throw usage(`Standard input is larger than ${MAX_BYTES / 1024 ** 2} MB.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Yields the lines of a stream as they arrive, without empty lines and comments. */
export async function* readLines(stream: Readable): AsyncGenerator<string> {
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  // The lines of a stream that is destroyed do not end on their own.
  stream.once('close', () => lines.close());
  for await (const line of lines) {
    const text = line.trim();
    if (text && !text.startsWith('#')) yield text;
  }
}
