import type { Readable } from 'node:stream';

/**
 * The text of an answer, of which no more is read than so many bytes.
 * @throws RangeError where it is longer
 */
export async function textWithin(body: Readable, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop destroys the body.
    if (size > mostBytes) throw new RangeError(`the answer is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
