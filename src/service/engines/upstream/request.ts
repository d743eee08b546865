import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { getOperation, getTaskFacts, type TaskOperation } from '../../../contract/index.js';
import type { Operation } from '../../../contract/operation.js';
import type { EngineJob } from '../../operation/engine.js';
import type { UpstreamTask } from './retry.js';

/** The body of a request, which can be opened again for each attempt. */
export interface RequestBody {
  /** Bytes. */
  readonly length: number;
  open(): Readable;
}

type Source = Pick<EngineJob, 'operation' | 'request' | 'images'>;

// Decided: the vendor gets the validated request: all fields with defaults, so that a request means the same
// with every engine, and images as Base64, so that a caller's URL is fetched only once and may be private.
// Only fields that must be a URL are passed on as one.
/**
 * Creates the body for the vendor. Images are streamed: fifty requests may have several of 50 MB each.
 * @param added fields that are added for the vendor
 */
export async function createRequestBody(
  given: Source,
  added: Readonly<Record<string, unknown>>,
): Promise<RequestBody> {
  const mark = randomUUID();
  const fields = markImages(given, (name) => `${mark}/${name}`);
  // Texts and names of images alternate.
  const pieces = JSON.stringify({ ...fields, ...added }).split(new RegExp(`"${mark}/([\\w.]+)"`));
  const parts = await Promise.all(
    pieces.map((piece, at) => (at % 2 === 0 ? createTextPart(piece) : createFilePart(given, piece))),
  );
  return {
    length: parts.reduce((sum, { length }) => sum + length, 0),
    open: () => Readable.from(concatChunks(parts), { objectMode: false }),
  };
}

/** Replaces each image of the request by a mark. */
function markImages({ request, images }: Source, mark: (name: string) => string): Record<string, unknown> {
  const marked = (name: string, value: unknown) => (images[name] === undefined ? value : mark(name));
  const entries = Object.entries(request).map(([field, value]) => {
    // Images are named after their fields.
    if (value === field) return [field, marked(field, value)];
    if (!Array.isArray(value)) return [field, value];
    return [field, value.map((item, at) => (item === `${field}.${at}` ? marked(item, item) : item))];
  });
  return Object.fromEntries(entries);
}

interface BodyPart {
  /** Bytes. */
  readonly length: number;
  chunks(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

function createTextPart(text: string): BodyPart {
  const bytes = Buffer.from(text);
  return { length: bytes.length, chunks: () => [bytes] };
}

async function createFilePart({ operation, images }: Source, name: string): Promise<BodyPart> {
  const path = images[name] as string;
  const { size } = await stat(path);
  // Video vendors accept images only as data URLs.
  const start =
    getTaskFacts(operation).kind === 'video'
      ? `data:${(await detectFileType(path)) ?? 'image/png'};base64,`
      : '';
  const length = start.length + 4 * Math.ceil(size / 3) + 2;
  return { length, chunks: () => encodeBase64(path, start) };
}

/** Encodes chunks of a multiple of three bytes, which need no padding, except the last. */
async function* encodeBase64(path: string, start: string): AsyncGenerator<Buffer> {
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

async function* concatChunks(parts: readonly BodyPart[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield* part.chunks();
}

/** The fields that are added to a request for the vendor and override the caller's. */
export async function buildAddedFields(task: UpstreamTask): Promise<Record<string, unknown>> {
  const { kind, job, vendor, settings, callbacks } = task;
  const callback = callbacks.getUrl(job.id, vendor.baseUrl);
  if (kind === 'image') return { ...(callback && { webhook_url: callback }) };
  const model = settings.models?.[job.request.model as string];
  return {
    ...(callback && { callback_url: callback }),
    ...(model && { model }),
    // The seed of the answer; an extension has none.
    ...(getTaskFacts(job.operation).continues ? await findExtendedVideo(task) : { seed: job.seed }),
  };
}

// Decided: to extend a video that this vendor made, the request has the vendor's own id and URL of it.
async function findExtendedVideo({ job, readState }: UpstreamTask): Promise<Record<string, unknown>> {
  // The id of a creation here: its task and its index in the results.
  const [, taskId, index] = /^([\da-f-]{36})-(\d+)$/.exec(String(job.request.video_creation_id)) ?? [];
  if (taskId === undefined) return {};
  const { videos } = await readState(taskId, job);
  const video = videos?.find(({ at }) => at === Number(index));
  return { ...(video?.id && { video_creation_id: video.id }), ...(video && { video_url: video.url }) };
}

/** The path that starts a task, below the vendor's base URL. */
export function getStartPath(operation: TaskOperation): string {
  return stripVendorPrefix(getOperation(operation));
}

/** The path that reads a vendor's task, below its base URL. */
export function getReadPath(operation: TaskOperation, vendorTaskId: string): string {
  return stripVendorPrefix(getOperation(getTaskFacts(operation).read)).replace(
    '{task_id}',
    encodeURIComponent(vendorTaskId),
  );
}

/** The contract's path without the part that the base URL replaces. */
function stripVendorPrefix({ path }: Operation): string {
  return path.replace(/^\/proxy\/\w+/, '');
}

/** The first bytes of the types that may be served: none that a browser would execute. */
const SIGNATURES: readonly (readonly [type: string, form: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/avif', /^.{4}ftyp(?:avif|avis)/s],
  ['image/tiff', /^(?:II\*|MM.\*)/s],
  // HEIC and audio use the container of MP4.
  ['video/mp4', /^.{4}ftyp(?!hei[cx]|mif1|msf1|M4[AB] )/s],
  ['video/webm', /^.E\xdf\xa3/s],
];

/** Detects the type of a file by its first bytes. @returns undefined if it is unknown */
export async function detectFileType(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    const head = buffer.toString('latin1', 0, bytesRead);
    return SIGNATURES.find(([, form]) => form.test(head))?.[0];
  } finally {
    await file.close();
  }
}
