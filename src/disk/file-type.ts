import { closeSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import { openFolderFile } from './folder-file.js';

/** The type of a file, detected from its first bytes. */
export interface FileType {
  readonly ext: string;
  readonly mediaType: string;
}

const FILE_TYPES: readonly (FileType & { readonly start: RegExp })[] = [
  { ext: 'png', mediaType: 'image/png', start: /^\x89PNG\r\n/ },
  { ext: 'jpg', mediaType: 'image/jpeg', start: /^\xff\xd8\xff/ },
  { ext: 'gif', mediaType: 'image/gif', start: /^GIF8[79]a/ },
  { ext: 'webp', mediaType: 'image/webp', start: /^RIFF.{4}WEBP/s },
  { ext: 'avif', mediaType: 'image/avif', start: /^.{4}ftyp(?:avif|avis)/s },
  { ext: 'tif', mediaType: 'image/tiff', start: /^(?:II\*|MM.\*)/s },
  // HEIC and audio use the container of MP4.
  { ext: 'mp4', mediaType: 'video/mp4', start: /^.{4}ftyp(?!hei[cx]|mif1|msf1|M4[AB] )/s },
  { ext: 'webm', mediaType: 'video/webm', start: /^.E\xdf\xa3/s },
];

/** The types of files that results may have: none that a browser would execute. */
export const RESULT_TYPES: readonly FileType[] = FILE_TYPES.filter(({ ext }) => ext !== 'tif');

/** @param head the first 16 bytes, or as many as there are. @returns undefined if the type is unknown */
export function detectFileType(head: Buffer): FileType | undefined {
  const text = head.toString('latin1');
  return FILE_TYPES.find(({ start }) => start.test(text));
}

export async function readFileType(path: string): Promise<FileType | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    return detectFileType(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/**
 * Whether a file certainly has no image, because it is a video or begins with plain text. A type that is not known may be one.
 * @throws UnfitFileError, or the system's error, if it cannot be read
 */
export function lacksImage(path: string): boolean {
  const { descriptor } = openFolderFile(path);
  try {
    const buffer = Buffer.alloc(16);
    const head = buffer.subarray(0, readSync(descriptor, buffer));
    const type = detectFileType(head);
    return type ? type.mediaType.startsWith('video/') : PLAIN_TEXT.test(head.toString('latin1'));
  } finally {
    closeSync(descriptor);
  }
}

const PLAIN_TEXT = /^[\t\n\r -~]+$/;

/** What the extensions of media files promise. */
const PROMISED_TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FILE_TYPES.map(({ ext, mediaType }) => [ext, mediaType])),
  jpeg: 'image/jpeg',
  tiff: 'image/tiff',
  bmp: 'image/bmp',
  heic: 'image/heic',
  m4v: 'video/mp4',
  // What begins like MP4 may be either.
  mov: 'video/mp4',
  mkv: 'video/x-matroska',
};

/** @returns what the extension of a path promises; undefined if it promises nothing about media */
export function getPromisedType(path: string): string | undefined {
  return PROMISED_TYPES[extname(path).slice(1).toLowerCase()];
}
