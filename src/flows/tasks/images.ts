import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TaskKind } from '../../contract/operation.js';
import { detectFileType } from './file-type.js';
import type { ImageReference } from './ledger.js';

/** Where an image comes from; it is not read yet. */
export type ImageSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'data'; readonly base64: string }
  | { readonly kind: 'stdin' };

/** The images of a request by field; a field that is a list has several. */
export type Images = Readonly<Record<string, ImageSource | readonly ImageSource[]>>;

/** An image in the request and in the ledger. */
interface LoadedImage {
  /** Base64 in the form of the operation, or the URL. */
  readonly value: string;
  readonly kept: ImageReference | string;
}

/**
 * Reads the images of a request.
 * @param kind image operations take raw Base64, video operations take data URLs
 * @returns the fields for the request, and for the ledger
 */
export async function loadImages(images: Images, kind: TaskKind, readStdin: () => Promise<Buffer>) {
  const sent: Record<string, string | string[]> = {};
  const kept: Record<string, LoadedImage['kept'] | LoadedImage['kept'][]> = {};
  const write = (bytes: Buffer) => encodeImage(bytes, kind);
  for (const [field, source] of Object.entries(images)) {
    const loaded: LoadedImage[] = [];
    for (const one of [source].flat()) loaded.push(await loadImage(one, readStdin, write));
    const values = loaded.map(({ value }) => value);
    const references = loaded.map((one) => one.kept);
    sent[field] = Array.isArray(source) ? values : (values[0] as string);
    kept[field] = Array.isArray(source) ? references : (references[0] as LoadedImage['kept']);
  }
  return { sent, kept };
}

async function loadImage(
  source: ImageSource,
  readStdin: () => Promise<Buffer>,
  write: (bytes: Buffer) => string,
): Promise<LoadedImage> {
  if (source.kind === 'url') return { value: source.url, kept: source.url };
  const bytes = await readImage(source, readStdin);
  const kept = toReference(bytes, source.kind === 'file' ? source.path : undefined);
  return { value: write(bytes), kept };
}

async function readImage(
  source: Exclude<ImageSource, { kind: 'url' }>,
  readStdin: () => Promise<Buffer>,
): Promise<Buffer> {
  if (source.kind === 'data') return Buffer.from(source.base64, 'base64');
  return source.kind === 'stdin' ? readStdin() : readFileSync(source.path);
}

/** Describes an image for the ledger. */
export function toReference(bytes: Buffer, file?: string): ImageReference {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...(file !== undefined && { file }), bytes: bytes.length, sha256 };
}

/** Writes an image as the operations of a kind take it. */
export function encodeImage(bytes: Buffer, kind: TaskKind): string {
  return kind === 'video' ? encodeDataUrl(bytes) : bytes.toString('base64');
}

function encodeDataUrl(bytes: Buffer): string {
  const type = detectFileType(bytes.subarray(0, 16))?.mediaType ?? 'application/octet-stream';
  return `data:${type};base64,${bytes.toString('base64')}`;
}
