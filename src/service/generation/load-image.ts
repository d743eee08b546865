import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageToInspect } from '../../preview/job.js';
import { FETCH_LIMITS } from '../network/fetch-media.js';
import type { OwnOrigin } from '../network/guarded-agent.js';
import type { ImageInspector } from '../operation/image-inspector.js';
import { invalidField } from '../operation/refused.js';
import { fetchInput } from './fetch-input.js';

/** The limits of one image, which are part of the configuration. */
export interface ImageLimits {
  readonly imageBytes: number;
  /** Width times height. */
  readonly imagePixels: number;
}

export interface LoadImageOptions extends OwnOrigin {
  /** The field of the request, for error messages. */
  readonly field: string;
  readonly limits: ImageLimits;
  /** The folder of the new file; created if necessary. */
  readonly folder: string;
  /** Whose request it is. */
  readonly owner: string;
  readonly inspector: Pick<ImageInspector, 'inspect'>;
  /** Reserves space for the file. @throws Refused unavailable */
  readonly admit?: (bytes: number) => Promise<void>;
  /** Requires https, except for the service's own URLs. */
  readonly httpsOnly?: boolean;
  readonly signal?: AbortSignal;
}

/** Pixels, as displayed: after applying the EXIF orientation. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

interface LoadedImage extends ImageSize {
  /** Its bytes, or the path of a new file that belongs to the caller. */
  readonly content: Buffer | string;
}

/** A smaller file is sent to the process that decodes it, a larger one written for it. */
const MAX_SENT_BYTES = 64 * 1024;

/**
 * Loads an image of a request, which is Base64, a data URL or a URL, and decodes it completely, so that a task never
 * starts with an unusable image.
 * @throws Refused invalid_request naming the field; the signal's reason if the caller aborted
 */
export async function loadImage(value: string, options: LoadImageOptions): Promise<LoadedImage> {
  const isUrl = /^https?:/i.test(value);
  const bytes = isUrl ? undefined : decodeBase64(value, options);
  // A small one is not worth asking the disk: a user has only so many tasks.
  if (bytes && bytes.length <= MAX_SENT_BYTES) {
    const size = await inspectContent({ base64: bytes.toString('base64') }, options);
    return { content: bytes, ...size };
  }
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const path = join(options.folder, randomUUID());
  try {
    if (bytes) {
      await options.admit?.(bytes.length);
      await writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
    } else await fetchImage(value, path, options);
    return { content: path, ...(await inspectContent({ path }, options)) };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function fetchImage(url: string, path: string, options: LoadImageOptions): Promise<void> {
  const { field, limits, serviceOrigin, loopbackAllowed, allowedNetworks } = options;
  const { httpsOnly = false, signal, admit } = options;
  const rules = { bytes: limits.imageBytes, seconds: FETCH_LIMITS.seconds, httpsOnly, signal, admit };
  const origin = { serviceOrigin, loopbackAllowed, allowedNetworks };
  await fetchInput(field, url, path, { ...rules, ...origin, media: 'image' });
}

function decodeBase64(value: string, { field, limits }: LoadImageOptions): Buffer {
  const start = /^data:/i.test(value) ? value.slice(0, 200).indexOf(',') + 1 : 0;
  const bytes = Buffer.from(start === 0 ? value : value.slice(start), 'base64');
  if (bytes.length === 0) throw invalidField(field, 'must not be empty');
  if (bytes.length > limits.imageBytes)
    throw invalidField(field, `must be at most ${formatMegabytes(limits.imageBytes)}`);
  return bytes;
}

/** @returns its size as displayed */
async function inspectContent(
  image: ImageToInspect['image'],
  { field, limits, owner, inspector, signal }: LoadImageOptions,
): Promise<ImageSize> {
  const request = { image, maxPixels: limits.imagePixels, owner, signal };
  const { width, height, problem } = await inspector.inspect(request);
  if (problem === 'format') throw invalidField(field, `must be an image: ${FORMAT_NAMES}`);
  if (problem === 'pixels') {
    const most = `${Math.floor(limits.imagePixels / 1e6)} megapixels`;
    throw invalidField(field, `must have at most ${most}; it has ${width} × ${height} pixels`);
  }
  if (problem === 'effort')
    throw invalidField(field, 'cannot be decoded with the time and memory for one image');
  if (problem) throw invalidField(field, 'is truncated or corrupt');
  return { width, height };
}

const FORMAT_NAMES = 'JPEG, PNG, WebP, GIF, TIFF or AVIF';

const formatMegabytes = (bytes: number) => `${Math.floor(bytes / 1024 ** 2)} MB`;
