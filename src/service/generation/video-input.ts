import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Limits } from '../../contract/limits.js';
import { fetchInput, refusedInput } from './fetch-input.js';

interface VideoTaking {
  /** The request's field, as problems name it. */
  readonly field: string;
  readonly limits: Pick<Limits, 'videoBytes' | 'videoSeconds'>;
  /** The service's own base address. */
  readonly serviceOrigin: string;
  /** Where the file is put. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Fetches a video into a new file and looks at its beginning; what is in it is the engine's matter.
 * @throws Refused invalid_request naming the field; the signal's reason where the caller gave up
 */
export async function takeVideo(url: string, taking: VideoTaking): Promise<string> {
  const { field, limits, serviceOrigin, folder, signal } = taking;
  const path = join(folder, randomUUID());
  const rules = { bytes: limits.videoBytes, seconds: limits.videoSeconds, serviceOrigin, signal };
  await fetchInput(field, url, path, { ...rules, httpsOnly: false, media: 'video' });
  if (!isVideo(await firstBytes(path, 12)))
    throw refusedInput(field, 'must be a video: MP4, MOV, WebM or MKV');
  return path;
}

async function firstBytes(path: string, count: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The container of AVIF, HEIC and audio is that of MP4. */
const otherBrands = /^(?:avi[fs]|hei[cx]|mif1|msf1|M4[AB] )/;

function isVideo(head: Buffer): boolean {
  const [box, brand] = [head.toString('latin1', 4, 8), head.toString('latin1', 8, 12)];
  if (box === 'ftyp') return !otherBrands.test(brand);
  // QuickTime once began without it.
  if (['moov', 'mdat', 'wide', 'free'].includes(box)) return true;
  const matroska = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
  return head.subarray(0, 4).equals(matroska);
}
