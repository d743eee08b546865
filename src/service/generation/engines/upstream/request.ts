import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { EngineJob } from '../../engine.js';
import { kindOf } from '../../operations.js';
import { fileType } from './file-type.js';

/** The body of a request, which may be opened as often as it is sent. */
export interface Body {
  /** Bytes. */
  readonly length: number;
  open(): Readable;
}

type Given = Pick<EngineJob, 'operation' | 'request' | 'images'>;

// Decided: the vendor gets what was checked: each field, defaults included, so that a request means the same wherever it
// is done; each image as Base64, so that a caller's link is not read twice and may be private. Only what the contract
// takes as nothing but a URL is passed on as one.
/**
 * The request as the vendor gets it. Images are read as they are sent: fifty requests may each hold several of 50 MB.
 * @param added fields that are put into the request for the vendor's sake
 */
export async function bodyOf(given: Given, added: Readonly<Record<string, unknown>>): Promise<Body> {
  const mark = randomUUID();
  const fields = withMarks(given, (name) => `${mark}/${name}`);
  // Texts, with the name of an image between each two.
  const pieces = JSON.stringify({ ...fields, ...added }).split(new RegExp(`"${mark}/([\\w.]+)"`));
  const parts = await Promise.all(
    pieces.map((piece, at) => (at % 2 === 0 ? textPart(piece) : filePart(given, piece))),
  );
  return {
    length: parts.reduce((sum, { length }) => sum + length, 0),
    open: () => Readable.from(inTurn(parts), { objectMode: false }),
  };
}

/** The request with a mark for each image that it holds. */
function withMarks({ request, images }: Given, mark: (name: string) => string): Record<string, unknown> {
  const marked = (name: string, value: unknown) => (images[name] === undefined ? value : mark(name));
  const entries = Object.entries(request).map(([field, value]) => {
    // A field of this name that is no image: images of a request are named by their fields.
    if (value === field) return [field, marked(field, value)];
    if (!Array.isArray(value)) return [field, value];
    return [field, value.map((item, at) => (item === `${field}.${at}` ? marked(item, item) : item))];
  });
  return Object.fromEntries(entries);
}

interface Part {
  /** Bytes. */
  readonly length: number;
  chunks(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

function textPart(text: string): Part {
  const bytes = Buffer.from(text);
  return { length: bytes.length, chunks: () => [bytes] };
}

async function filePart({ operation, images }: Given, name: string): Promise<Part> {
  const path = images[name] as string;
  const { size } = await stat(path);
  // Vendors of videos take images as data URLs only.
  const start = kindOf(operation) === 'video' ? `data:${(await fileType(path)) ?? 'image/png'};base64,` : '';
  const length = start.length + 4 * Math.ceil(size / 3) + 2;
  return { length, chunks: () => inBase64(path, start) };
}

/** Each chunk but the last holds a number of bytes that Base64 needs no padding for. */
async function* inBase64(path: string, start: string): AsyncGenerator<Buffer> {
  yield Buffer.from(`"${start}`);
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    yield Buffer.from(bytes.toString('base64', 0, whole));
  }
  yield Buffer.from(`${rest.toString('base64')}"`);
}

async function* inTurn(parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield* part.chunks();
}
