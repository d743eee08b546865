import { extname } from 'node:path';

/** The type of a file, detected from its first bytes. */
export interface FileType {
  readonly ext: string;
  readonly mediaType: string;
}

const FILE_TYPES: readonly (FileType & { matches(head: Buffer): boolean })[] = [
  { ext: 'png', mediaType: 'image/png', matches: (head) => startsWith(head, '89504e470d0a1a0a') },
  { ext: 'jpg', mediaType: 'image/jpeg', matches: (head) => startsWith(head, 'ffd8ff') },
  {
    ext: 'webp',
    mediaType: 'image/webp',
    matches: (head) => textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 12) === 'WEBP',
  },
  { ext: 'avif', mediaType: 'image/avif', matches: (head) => textAt(head, 4, 12) === 'ftypavif' },
  { ext: 'mp4', mediaType: 'video/mp4', matches: (head) => textAt(head, 4, 8) === 'ftyp' },
  { ext: 'gif', mediaType: 'image/gif', matches: (head) => textAt(head, 0, 4) === 'GIF8' },
  {
    ext: 'tif',
    mediaType: 'image/tiff',
    matches: (head) => ['II*\0', 'MM\0*'].includes(textAt(head, 0, 4)),
  },
];

/** @param head the first 16 bytes, or as many as there are */
export function detectFileType(head: Buffer): FileType | undefined {
  return FILE_TYPES.find(({ matches }) => matches(head));
}

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
  webm: 'video/webm',
  mkv: 'video/x-matroska',
};

/** @returns what the extension of a path promises; undefined if it promises nothing about media */
export function getPromisedType(path: string): string | undefined {
  return PROMISED_TYPES[extname(path).slice(1).toLowerCase()];
}

function startsWith(head: Buffer, hex: string): boolean {
  return head.subarray(0, hex.length / 2).toString('hex') === hex;
}

function textAt(head: Buffer, from: number, to: number): string {
  return head.toString('latin1', from, to);
}
