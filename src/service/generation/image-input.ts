import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fetchLimits } from './fetch-image.js';
import { fetchInput, refusedInput } from './fetch-input.js';
import { loadSharp } from './sharp.js';
import { Turns } from './turns.js';

/** What one image may be: the service's own limits, which are each configurable. */
export interface ImageLimits {
  readonly imageBytes: number;
  /** Decoded: width times height. */
  readonly imagePixels: number;
  /** How long it may take to fetch. Default: `fetchLimits.seconds`. */
  readonly imageSeconds?: number;
}

export interface ImageTaking {
  /** The request's field, as problems name it. */
  readonly field: string;
  readonly limits: ImageLimits;
  /** The service's own base address. */
  readonly serviceOrigin: string;
  /** Where the file is put; made if need be. */
  readonly folder: string;
  /** URLs begin with https, but for the service's own. */
  readonly httpsOnly?: boolean;
  readonly signal?: AbortSignal;
}

export interface TakenImage {
  /** A new file, of this caller alone. */
  readonly path: string;
  readonly format: ImageFormat;
  /** As shown, after the picture's own orientation. */
  readonly width: number;
  readonly height: number;
  /** Of the file, hex. */
  readonly sha256: string;
}

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'tiff' | 'avif';

/** Decoding takes memory of an image's size, so few are decoded at once. */
const decoding = new Turns(2);

/**
 * Brings an image of a request, which is Base64, a data URL or a URL, into a file, and decodes it whole once, so that a
 * task never begins with what cannot be worked on.
 * @throws Refused invalid_request naming the field; the signal's reason where the caller gave up
 */
export async function takeImage(value: string, taking: ImageTaking): Promise<TakenImage> {
  await mkdir(taking.folder, { recursive: true, mode: 0o700 });
  const path = join(taking.folder, randomUUID());
  try {
    await bring(value, path, taking);
    return { path, ...(await decoding.take(() => decode(path, taking))), sha256: await digest(path) };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function bring(value: string, path: string, taking: ImageTaking): Promise<void> {
  const { field, limits, serviceOrigin, httpsOnly = false, signal } = taking;
  if (!/^https?:/i.test(value)) return writeFile(path, bytesOf(value, taking), { flag: 'wx', mode: 0o600 });
  await fetchInput(field, value, path, {
    bytes: limits.imageBytes,
    seconds: limits.imageSeconds ?? fetchLimits.seconds,
    serviceOrigin,
    httpsOnly,
    signal,
    media: 'image',
  });
}

function bytesOf(value: string, { field, limits }: ImageTaking): Buffer {
  const start = /^data:/i.test(value) ? value.slice(0, 200).indexOf(',') + 1 : 0;
  const bytes = Buffer.from(start === 0 ? value : value.slice(start), 'base64');
  if (bytes.length === 0) throw refusedInput(field, 'must not be empty: it holds 0 bytes');
  if (bytes.length > limits.imageBytes)
    throw refusedInput(field, `must be at most ${megabytes(limits.imageBytes)} large`);
  return bytes;
}

async function decode(
  path: string,
  { field, limits, signal }: ImageTaking,
): Promise<Pick<TakenImage, 'format' | 'width' | 'height'>> {
  signal?.throwIfAborted();
  const sharp = await loadSharp();
  const picture = sharp(path, { failOn: 'error', limitInputPixels: false, sequentialRead: true });
  const head = await picture.metadata().catch(() => undefined);
  const format = head && formatOf(head.format, head.compression);
  if (!head || !format) throw refusedInput(field, `must be an image: ${names}`);
  const { width, height } = head.autoOrient;
  if (width * height > limits.imagePixels) {
    const most = Math.floor(limits.imagePixels / 1e6);
    const size = `${width} × ${height} pixels`;
    throw refusedInput(field, `must hold at most ${most} megapixels; it unpacks to ${size}`);
  }
  try {
    await picture.resize(16, 16, { fit: 'fill' }).raw().timeout({ seconds: 60 }).toBuffer();
  } catch {
    throw refusedInput(field, 'is broken: it cannot be decoded to its end');
  }
  return { format, width, height };
}

const names = 'JPEG, PNG, WebP, GIF, TIFF or AVIF';

function formatOf(format: string, compression: string | undefined): ImageFormat | undefined {
  if (format === 'heif') return compression === 'av1' ? 'avif' : undefined;
  return ['jpeg', 'png', 'webp', 'gif', 'tiff'].includes(format) ? (format as ImageFormat) : undefined;
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 1024 ** 2)} MB`;
