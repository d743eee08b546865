import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { getTaskFacts } from '../../../contract/index.js';
import { readFileType } from '../../../disk/file-type.js';
import { EngineFailure, type EngineJob } from '../../operation/engine.js';
import { chooseUrlImages } from './image-limits.js';
import type { UpstreamTask } from './retry.js';
import { chooseRoute, type Fields, fillForm, toVendorFields } from './route.js';
import { readFreshUrl } from './vendor-task.js';

/** The body of a request, which can be opened again for each attempt. */
export interface RequestBody {
  /** Bytes. */
  readonly length: number;
  open(): Readable;
}

interface Source extends Pick<EngineJob, 'images'> {
  /** With each image replaced by its name. */
  readonly fields: Fields;
  /** Whether images are data URLs, not bare Base64. */
  readonly isDataUrl: boolean;
  /** The form of the request, with places for the fields. */
  readonly form?: unknown;
  /** What is sent beside them. */
  readonly others?: Fields;
}

// Decided: the vendor gets the validated request with defaults, so that a request means the same with every engine, and
// images as Base64, so that a caller's URL is fetched only once and may be private. Only fields that must be a URL are
// passed on as one.
/** Creates the body for the vendor. Images are streamed: fifty requests may have several of 50 MB each. */
export async function createRequestBody(given: Source): Promise<RequestBody> {
  const mark = randomUUID();
  const marked = markImages(given, (name) => `${mark}/${name}`);
  // Texts and names of images alternate.
  const { form, others } = given;
  const formed = form === undefined ? marked : (fillForm(form, marked) as Fields);
  const pieces = JSON.stringify({ ...formed, ...others }).split(new RegExp(`"${mark}/([\\w.]+)"`));
  const parts = await Promise.all(
    pieces.map((piece, at) => (at % 2 === 0 ? createTextPart(piece) : createFilePart(given, piece))),
  );
  return {
    length: parts.reduce((sum, { length }) => sum + length, 0),
    open: () => Readable.from(concatChunks(parts), { objectMode: false }),
  };
}

/** Replaces each image of the request by a mark. */
function markImages(
  { fields, images }: Pick<Source, 'fields' | 'images'>,
  mark: (name: string) => string,
): Fields {
  const marked = (name: string, value: unknown) => (images[name] === undefined ? value : mark(name));
  const entries = Object.entries(fields).map(([field, value]) => {
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

async function createFilePart({ images, isDataUrl }: Source, name: string): Promise<BodyPart> {
  const path = images[name] as string;
  const { size } = await stat(path);
  const start = isDataUrl ? `data:${(await readFileType(path))?.mediaType ?? 'image/png'};base64,` : '';
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

/** The fields that the service adds to a request, or that replace the caller's. A removed one is null. */
export async function buildAddedFields(task: UpstreamTask): Promise<Fields> {
  const { job, kind, vendor, callbacks } = task;
  const isExtension = getTaskFacts(job.operation).videoFields !== undefined;
  const own = isExtension ? await findExtendedVideo(task) : undefined;
  return {
    // The seed of the answer; an extension has none.
    ...(kind === 'video' && !isExtension && { seed: job.seed }),
    ...(isExtension && vendor.profile.ownCreationsOnly && !own && { video_creation_id: null }),
    ...own,
    ...(await replaceLargeImages(task)),
    [CALLBACK]: callbacks.getUrl(job.id, vendor.baseUrl) ?? null,
  };
}

/** The fields with images that the vendor fetches from this service, because they are too large for its requests. */
async function replaceLargeImages({ job, vendor, callbacks }: UpstreamTask): Promise<Fields> {
  if (!callbacks.isReachable(vendor.baseUrl)) return {};
  const parts = { fields: job.request, images: job.images };
  const names: string[] = [];
  markImages(parts, (name) => `${names.push(name)}`);
  const sizes = names.map(async (name) => [name, { bytes: (await stat(job.images[name] as string)).size }]);
  const byUrl = chooseUrlImages(vendor.profile.limits, Object.fromEntries(await Promise.all(sizes)));
  if (byUrl.length === 0) return {};
  const marked = markImages(parts, (name) =>
    byUrl.includes(name) ? callbacks.getInputUrl(job.id, name) : name,
  );
  const hasImage = (field: string) => byUrl.some((name) => name === field || name.startsWith(`${field}.`));
  return Object.fromEntries(Object.entries(marked).filter(([field]) => hasImage(field)));
}

/** Stands for the field of the vendor's callback, which depends on the route. */
const CALLBACK = '';

/** Chooses the route of a task, and writes its request for the vendor. @throws EngineFailure if there is no route */
export function buildRequest({ job, vendor, settings }: UpstreamTask, added: Fields) {
  const { [CALLBACK]: callbackUrl, ...replaced } = added;
  const given = Object.entries({ ...job.request, ...replaced }).filter(([, value]) => value !== null);
  const request = Object.fromEntries(given);
  const { profile } = vendor;
  const route = chooseRoute(profile, job.operation, request);
  if (!route) throw new EngineFailure('The vendor of this service does not have this operation.');
  const { callback = profile.callback, images = profile.images } = route;
  const others = {
    ...route.set,
    ...(callback && callbackUrl !== null && { [callback]: callbackUrl }),
    ...(profile.marker && { [profile.marker.field]: job.id }),
  };
  const fields = toVendorFields({ profile, models: settings.models }, route, request);
  return { route, fields, others, form: route.body, isDataUrl: images === 'dataUrl' };
}

// Decided: to extend a video that this vendor made, the request has the vendor's own id of it, and a URL that has not
// expired.
async function findExtendedVideo(task: UpstreamTask): Promise<Fields | undefined> {
  const { job, readState } = task;
  // The id of a creation here: its task and its index in the results.
  const [, taskId, index] = /^([\da-f-]{36})-(\d+)$/.exec(String(job.request.video_creation_id)) ?? [];
  if (taskId === undefined) return undefined;
  const { videos, taskId: vendorTaskId } = await readState(taskId, job);
  const video = videos?.find(({ at }) => at === Number(index));
  if (!video) return undefined;
  const url = (vendorTaskId && (await readFreshUrl(task, vendorTaskId, video.id))) ?? video.url;
  return { ...(video.id && { video_creation_id: video.id }), video_url: url };
}
