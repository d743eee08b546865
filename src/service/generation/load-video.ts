import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Limits } from '../../contract/schema/limits.js';
import { detectFileType } from '../../disk/file-type.js';
import { invalidField } from '../operation/refused.js';
import { fetchInput, type InputOptions } from './fetch-input.js';

interface LoadVideoOptions extends InputOptions {
  readonly limits: Pick<Limits, 'videoBytes' | 'videoSeconds'>;
}

/**
 * Fetches a video into a new file and checks its container format; the engine checks the content.
 * @throws Refused invalid_request with the field; the signal's reason if the caller aborted
 */
export async function loadVideo(url: string, options: LoadVideoOptions): Promise<string> {
  const { field, limits, folder } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  const rules = {
    httpsOnly: false,
    bytes: limits.videoBytes,
    seconds: limits.videoSeconds,
    media: 'video',
  } as const;
  await fetchInput(field, url, path, { ...options, ...rules });
  const file = await open(path);
  try {
    if (!isVideo(await readBytes(file, 0, 12)))
      throw invalidField(field, 'must be a video: MP4, MOV, WebM or MKV');
    if (await isTruncated(file)) throw invalidField(field, 'is truncated');
  } finally {
    await file.close();
  }
  return path;
}

async function readBytes(file: FileHandle, at: number, count: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, at);
  return buffer.subarray(0, bytesRead);
}

/** Whether a file ends before its content does. A decoder would play what there is as if it were whole. */
async function isTruncated(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  const head = await readBytes(file, 0, 100);
  const end = isMatroska(head) ? findSegmentEnd(head) : await findLastBoxEnd(file, size);
  return end > size;
}

/** More boxes than a file has at its top level. */
const MAX_BOXES = 100_000;

/** @returns where the last of the top-level boxes of an MP4 file ends, as far as they say so */
async function findLastBoxEnd(file: FileHandle, size: number): Promise<number> {
  let at = 0;
  for (let box = 0; at < size && box < MAX_BOXES; box += 1) {
    const head = await readBytes(file, at, 16);
    const isBox = /^[\x20-\x7e\xa9]{4}$/.test(head.toString('latin1', 4, 8));
    // A length of 0 means the rest of the file.
    const length = isBox ? head.readUInt32BE(0) : 0;
    if (length === 0) return at;
    if (length === 1 && head.length < 16) return size + 1;
    // No box is shorter than its own head: one that says so would be read over and over.
    at += length === 1 ? Math.max(Number(head.readBigUInt64BE(8)), 16) : Math.max(length, 8);
  }
  return at;
}

/** @returns where the segment of a Matroska file ends; 0 if it does not say so, because it was streamed */
function findSegmentEnd(head: Buffer): number {
  const header = readVarint(head, 4);
  if (!header) return 0;
  const at = header.end + header.value;
  if (at + 4 > head.length || head.readUInt32BE(at) !== 0x18538067) return 0;
  const segment = readVarint(head, at + 4);
  return segment ? segment.end + segment.value : 0;
}

/** Reads a length of EBML. @returns undefined if it is unknown or not whole */
function readVarint(bytes: Buffer, at: number): { readonly value: number; readonly end: number } | undefined {
  const length = Math.clz32(bytes[at] ?? 0) - 23;
  if (length > 8 || at + length > bytes.length) return undefined;
  const marked = BigInt(`0x${bytes.toString('hex', at, at + length)}`);
  const most = (1n << BigInt(7 * length)) - 1n;
  const value = marked & most;
  return value === most ? undefined : { value: Number(value), end: at + length };
}

function isVideo(head: Buffer): boolean {
  // Old QuickTime files have no `ftyp` box.
  const isQuickTime = ['moov', 'mdat', 'wide', 'free'].includes(head.toString('latin1', 4, 8));
  return detectFileType(head)?.ext === 'mp4' || isQuickTime || isMatroska(head);
}

function isMatroska(head: Buffer): boolean {
  return head.toString('hex', 0, 4) === '1a45dfa3';
}
