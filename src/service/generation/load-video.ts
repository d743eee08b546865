import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Limits } from '../../contract/schema/limits.js';
import { fetchInput, invalidInput } from './fetch-input.js';

interface LoadVideoOptions {
  /** The field of the request, for error messages. */
  readonly field: string;
  readonly limits: Pick<Limits, 'videoBytes' | 'videoSeconds'>;
  /** The service's own base URL. */
  readonly serviceOrigin: string;
  /** The folder of the new file. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Fetches a video into a new file and checks its container format; the engine checks the content.
 * @throws Refused invalid_request naming the field; the signal's reason if the caller aborted
 */
export async function loadVideo(url: string, options: LoadVideoOptions): Promise<string> {
  const { field, limits, serviceOrigin, folder, signal } = options;
  const path = join(folder, randomUUID());
  const rules = { bytes: limits.videoBytes, seconds: limits.videoSeconds, serviceOrigin, signal };
  await fetchInput(field, url, path, { ...rules, httpsOnly: false, media: 'video' });
  if (!isVideo(await readFirstBytes(path, 12)))
    throw invalidInput(field, 'must be a video: MP4, MOV, WebM or MKV');
  return path;
}

async function readFirstBytes(path: string, count: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** AVIF, HEIC and audio use the container of MP4. */
const OTHER_BRANDS = /^(?:avi[fs]|hei[cx]|mif1|msf1|M4[AB] )/;

function isVideo(head: Buffer): boolean {
  const [box, brand] = [head.toString('latin1', 4, 8), head.toString('latin1', 8, 12)];
  if (box === 'ftyp') return !OTHER_BRANDS.test(brand);
  // Old QuickTime files have no `ftyp` box.
  if (['moov', 'mdat', 'wide', 'free'].includes(box)) return true;
  const matroska = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
  return head.subarray(0, 4).equals(matroska);
}
