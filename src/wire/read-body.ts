/** A body is longer than accepted. */
export class BodyTooLong extends RangeError {
  override readonly name = 'BodyTooLong';

  constructor(
    readonly maxBytes: number,
    /** The bytes before the limit was exceeded. */
    readonly beginning: Buffer,
  ) {
    super(`the answer is larger than ${maxBytes} bytes`);
  }
}

/**
 * Reads a body completely, unless it is too long.
 * @throws BodyTooLong
 */
export async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    // Leaving the loop destroys the stream.
    if (size > maxBytes) throw new BodyTooLong(maxBytes, Buffer.concat(chunks));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
