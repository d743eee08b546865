import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import type { TaskKind } from '../../contract/operation.js';
import type { ImageReference } from '../connect/ledger.js';
import { readBytes } from '../terminal/stdin.js';
import type { System } from '../terminal/system.js';
import { detectFileType } from './file-type.js';

/** An image as it was typed; it is not read yet. */
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

/** Parses an image argument. `problem` is a sentence without its subject. */
export function parseSource(text: string, cwd: string): ImageSource | { readonly problem: string } {
  if (text === '-') return { kind: 'stdin' };
  if (/^https?:\/\//i.test(text)) return { kind: 'url', url: text };
  if (/^(?:data|base64):/i.test(text)) return parseData(text);
  const path = resolve(cwd, text);
  const found = text === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!found) return { problem: `is not an existing file: ${shorten(text)}` };
  if (found.isDirectory()) return { problem: `is a folder, not an image: ${shorten(text)}` };
  if (found.isFile() && found.size === 0) return { problem: `is an empty file: ${shorten(text)}` };
  return { kind: 'file', path, bytes: found.size };
}

// Matches a prefix only, because expressions overflow the stack on megabytes.
function parseData(text: string): ImageSource | { readonly problem: string } {
  const prefix = /^(?:base64:|data:[^,]{0,200};base64,)/i.exec(text.slice(0, 250))?.[0];
  if (prefix === undefined) return { problem: 'must be Base64 data, such as data:image/png;base64,…' };
  const base64 = text.slice(prefix.length);
  if (base64.trim() === '') return { problem: 'must not be empty' };
  if (/[^A-Za-z0-9+/=\s]/.test(base64)) return { problem: 'must be valid Base64' };
  return { kind: 'data', base64 };
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/**
 * Reads the images of a request.
 * @param kind image operations take raw Base64, video operations take data URLs
 * @returns the fields for the request, and for the ledger
 */
export async function loadImages(images: Images, kind: TaskKind, system: Pick<System, 'stdin'>) {
  const sent: Record<string, string | string[]> = {};
  const kept: Record<string, LoadedImage['kept'] | LoadedImage['kept'][]> = {};
  const write = kind === 'video' ? encodeDataUrl : encodeBase64;
  for (const [field, source] of Object.entries(images)) {
    const loaded: LoadedImage[] = [];
    for (const one of [source].flat()) loaded.push(await loadImage(one, system, write));
    const values = loaded.map(({ value }) => value);
    const references = loaded.map((one) => one.kept);
    sent[field] = Array.isArray(source) ? values : (values[0] as string);
    kept[field] = Array.isArray(source) ? references : (references[0] as LoadedImage['kept']);
  }
  return { sent, kept };
}

async function loadImage(
  source: ImageSource,
  { stdin }: Pick<System, 'stdin'>,
  write: (bytes: Buffer) => string,
): Promise<LoadedImage> {
  if (source.kind === 'url') return { value: source.url, kept: source.url };
  const bytes = await readImage(source, stdin);
  const kept = toReference(bytes, source.kind === 'file' ? source.path : undefined);
  return { value: write(bytes), kept };
}

async function readImage(
  source: Exclude<ImageSource, { kind: 'url' }>,
  stdin: System['stdin'],
): Promise<Buffer> {
  if (source.kind === 'data') return Buffer.from(source.base64, 'base64');
  return source.kind === 'stdin' ? readBytes(stdin) : readFileSync(source.path);
}

/** Describes an image for the ledger. */
export function toReference(bytes: Buffer, file?: string): ImageReference {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...(file !== undefined && { file }), bytes: bytes.length, sha256 };
}

function encodeBase64(bytes: Buffer): string {
  return bytes.toString('base64');
}

function encodeDataUrl(bytes: Buffer): string {
  const type = detectFileType(bytes.subarray(0, 16))?.mediaType ?? 'application/octet-stream';
  return `data:${type};base64,${bytes.toString('base64')}`;
}

/**
 * The base of the names of result files: the name of the first image without its extension.
 * @param other used if it has no name
 */
export function chooseName(images: Images, other: string): string {
  const [source] = Object.values(images).flat();
  if (source?.kind === 'file') return basename(source.path, extname(source.path));
  if (source?.kind === 'url' && URL.canParse(source.url)) {
    const { pathname } = new URL(source.url);
    return basename(pathname, extname(pathname)) || other;
  }
  return other;
}
