import { statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import type { ImageSource, Images } from '../../flows/tasks/images.js';

/** Parses an image argument. `problem` is a sentence without its subject. */
export function parseSource(text: string, cwd: string): ImageSource | { readonly problem: string } {
  if (text === '-') return { kind: 'stdin' };
  if (/^https?:\/\//i.test(text)) return { kind: 'url', url: text };
  if (/^(?:data|base64):/i.test(text)) return parseData(text);
  const path = resolve(cwd, text);
  const found = text === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!found) return { problem: `does not exist: ${shorten(text)}` };
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
