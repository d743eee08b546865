import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import type { ImageReference } from '../ledger.js';
import { readBytes } from '../stdin.js';
import type { System } from '../system.js';

/** An image as it was typed, not read yet. */
export type Source =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'data'; readonly base64: string }
  | { readonly kind: 'stdin' };

/** An image as it is sent, and as the ledger keeps it. */
export interface Loaded {
  /** Raw Base64, or the URL. */
  readonly value: string;
  readonly kept: ImageReference | string;
}

/** What an image argument means, or what is wrong with it, a sentence without its subject. */
export function sourceOf(text: string, cwd: string): Source | { readonly problem: string } {
  if (text === '-') return { kind: 'stdin' };
  if (/^https?:\/\//i.test(text)) return { kind: 'url', url: text };
  if (/^(?:data|base64):/i.test(text)) return dataOf(text);
  const path = resolve(cwd, text);
  const found = text === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!found) return { problem: `names no such file: ${shortened(text)}` };
  if (found.isDirectory()) return { problem: `is a folder, not an image: ${shortened(text)}` };
  if (found.isFile() && found.size === 0) return { problem: `is an empty file: ${shortened(text)}` };
  return { kind: 'file', path, bytes: found.size };
}

// A prefix only: expressions overflow the stack on megabytes.
function dataOf(text: string): Source | { readonly problem: string } {
  const prefix = /^(?:base64:|data:[^,]{0,200};base64,)/i.exec(text.slice(0, 250))?.[0];
  if (prefix === undefined) return { problem: 'must be data in Base64: data:image/png;base64,…' };
  const base64 = text.slice(prefix.length);
  if (base64.trim() === '') return { problem: 'must not be empty' };
  if (/[^A-Za-z0-9+/=\s]/.test(base64)) return { problem: 'must hold valid Base64' };
  return { kind: 'data', base64 };
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** Reads an image. */
export async function load(source: Source, system: Pick<System, 'stdin'>): Promise<Loaded> {
  switch (source.kind) {
    case 'url':
      return { value: source.url, kept: source.url };
    case 'data':
      return loaded(Buffer.from(source.base64, 'base64'));
    case 'stdin':
      return loaded(await readBytes(system.stdin));
    case 'file':
      return loaded(readFileSync(source.path), source.path);
  }
}

function loaded(bytes: Buffer, file?: string): Loaded {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return {
    value: bytes.toString('base64'),
    kept: { ...(file !== undefined && { file }), bytes: bytes.length, sha256 },
  };
}

/** What files made of an image are called after: its own name without the ending. */
export function nameOf(source: Source | undefined): string {
  if (source?.kind === 'file') return basename(source.path, extname(source.path));
  if (source?.kind === 'url' && URL.canParse(source.url)) {
    const { pathname } = new URL(source.url);
    return basename(pathname, extname(pathname)) || 'image';
  }
  return 'image';
}
