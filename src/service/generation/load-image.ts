import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { throwMachineTrouble } from '../../disk/machine-trouble.js';
import { openImage } from '../../preview/sharp.js';
import { FETCH_LIMITS } from '../network/fetch-media.js';
import type { OwnOrigin } from '../network/guarded-agent.js';
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

/** Limits how many run in parallel; the others wait in the order they came. */
class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((turn) => this.#waiting.push(turn));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}

/** Of wall time: an image that takes longer may be sent again. */
const DECODING_SECONDS = 60;
/** A larger image is reduced while it is decoded, to save memory; for a small one that takes longer. */
const MAX_WHOLE_PIXELS = 1_000_000;
/** Decoding takes memory proportional to the image, so few run in parallel. */
const decoding = new Semaphore(2);

/**
 * Loads an image of a request, which is Base64, a data URL or a URL, and decodes it completely, so that a task never
 * starts with an unusable image.
 * @throws Refused invalid_request naming the field; the signal's reason if the caller aborted
 */
export async function loadImage(value: string, options: LoadImageOptions): Promise<LoadedImage> {
  if (!/^https?:/i.test(value))
    return decoding.run(async () => {
      const content = decodeBase64(value, options);
      return { content, ...(await decodeImage(content, options)) };
    });
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const content = join(options.folder, randomUUID());
  try {
    const {
      field,
      limits,
      serviceOrigin,
      loopbackAllowed,
      allowedNetworks,
      httpsOnly = false,
      signal,
    } = options;
    const rules = { bytes: limits.imageBytes, seconds: FETCH_LIMITS.seconds, httpsOnly, signal };
    const origin = { serviceOrigin, loopbackAllowed, allowedNetworks };
    await fetchInput(field, value, content, { ...rules, ...origin, media: 'image' });
    return { content, ...(await decoding.run(() => decodeImage(content, options))) };
  } catch (error) {
    await rm(content, { force: true });
    throw error;
  }
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
async function decodeImage(
  content: Buffer | string,
  { field, limits, signal }: LoadImageOptions,
): Promise<ImageSize> {
  signal?.throwIfAborted();
  const picture = await openImage(content, { failOn: 'error', sequentialRead: true });
  const head = await picture.metadata().catch(throwMachineTrouble);
  if (!head || !isSupported(head.format, head.compression))
    throw invalidField(field, `must be an image: ${FORMAT_NAMES}`);
  const { width, height } = head.autoOrient;
  if (width * height > limits.imagePixels) {
    const most = `${Math.floor(limits.imagePixels / 1e6)} megapixels`;
    throw invalidField(field, `must have at most ${most}; it has ${width} × ${height} pixels`);
  }
  if (width * height > MAX_WHOLE_PIXELS) picture.resize(16, 16, { fit: 'fill' });
  const decoded = picture.raw().timeout({ seconds: DECODING_SECONDS });
  if (!(await decoded.toBuffer().catch(throwMachineTrouble)))
    throw invalidField(field, 'is truncated or corrupt');
  return { width, height };
}

const FORMAT_NAMES = 'JPEG, PNG, WebP, GIF, TIFF or AVIF';

function isSupported(format: string, compression: string | undefined): boolean {
  // AVIF
  if (format === 'heif') return compression === 'av1';
  return ['jpeg', 'png', 'webp', 'gif', 'tiff'].includes(format);
}

const formatMegabytes = (bytes: number) => `${Math.floor(bytes / 1024 ** 2)} MB`;
