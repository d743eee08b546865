import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { detectFileType, type FileType, readFileType } from '../../disk/file-type.js';
import type { ImageToInspect } from '../../preview/job.js';
import { FETCH_LIMITS } from '../network/fetch-media.js';
import type { InputImage } from '../operation/engine.js';
import type { ImageInspector } from '../operation/image-inspector.js';
import { invalidField } from '../operation/refused.js';
import { fetchInput, type InputOptions } from './fetch-input.js';

export interface ImageLimits {
  readonly imageBytes: number;
  /** Width times height. */
  readonly imagePixels: number;
}

interface LoadImageOptions extends InputOptions {
  readonly limits: ImageLimits;
  /** Whose request it is. */
  readonly owner: string;
  readonly inspector: Pick<ImageInspector, 'inspect'>;
  /** Requires https, except for the service's own URLs. */
  readonly httpsOnly?: boolean;
}

interface LoadedImage extends InputImage {
  /** Its bytes, or the path of a new file that belongs to the caller. */
  readonly content: Buffer | string;
}

/** A smaller file is sent to the process that decodes it, a larger one written for it. */
const MAX_SENT_BYTES = 64 * 1024;

/**
 * Loads an image of a request, which is Base64, a data URL or a URL, and decodes it completely, so that a task never
 * starts with an unusable image.
 * @throws Refused invalid_request with the field; the signal's reason if the caller aborted
 */
export async function loadImage(value: string, options: LoadImageOptions): Promise<LoadedImage> {
  const isUrl = /^https?:/i.test(value);
  const bytes = isUrl ? undefined : decodeBase64(value, options);
  // A small one is not worth asking the disk: a user has only so many tasks.
  if (bytes && bytes.length <= MAX_SENT_BYTES) {
    const size = await inspectContent({ base64: bytes.toString('base64') }, options);
    return { content: bytes, bytes: bytes.length, ...toMediaType(detectFileType(bytes)), ...size };
  }
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const path = join(options.folder, randomUUID());
  try {
    if (bytes) {
      await options.admit?.(bytes.length);
      await writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
    } else {
      const { field, limits, httpsOnly = false } = options;
      const rules = {
        httpsOnly,
        bytes: limits.imageBytes,
        seconds: FETCH_LIMITS.seconds,
        media: 'image',
      } as const;
      await fetchInput(field, value, path, { ...options, ...rules });
    }
    const size = await inspectContent({ path }, options);
    const type = toMediaType(await readFileType(path));
    return { content: path, bytes: (await stat(path)).size, ...type, ...size };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** What can be decoded has a known type. */
const toMediaType = (type: FileType | undefined) => ({ mediaType: type?.mediaType ?? '' });

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
): Promise<Pick<InputImage, 'width' | 'height'>> {
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
