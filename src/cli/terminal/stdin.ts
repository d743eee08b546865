import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { usage } from './failure.js';

const most = 256 * 1024 ** 2;

/** All of a stream as text; refuses more than any request holds. */
export async function readAll(stream: AsyncIterable<string | Uint8Array>): Promise<string> {
  return (await readBytes(stream)).toString('utf8');
}

/** All of a stream; refuses more than any request holds. */
export async function readBytes(stream: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > most) throw usage(`Standard input holds more than ${most / 1024 ** 2} MB.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** The lines of a stream that are neither empty nor comments, as they come. */
export async function* readLines(stream: Readable): AsyncGenerator<string> {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    const text = line.trim();
    if (text && !text.startsWith('#')) yield text;
  }
}
