import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { PackFile } from './files.js';
import { quoteName } from './path.js';
import { PackError } from './problem.js';
import { runInOrder } from './run-in-order.js';
import { ANY_SHAPE, SECRET_FILES, SECRET_SHAPES } from './secret-shapes.js';

/** Where a secret was found. Never has the secret itself, because reports end up in logs. */
export interface FoundSecret {
  readonly path: string;
  /** 1-based; absent if the whole file is a secret. */
  readonly line?: number;
  /** `private key`, `GitHub token`, `environment file`. */
  readonly kind: string;
}

/**
 * Finds what must not be published: files that always contain secrets, and keys and tokens with a known format in text.
 * Contents are streamed; binary files are skipped.
 *
 * @throws PackError if a file cannot be read
 */
export async function findSecrets(files: readonly PackFile[]): Promise<FoundSecret[]> {
  const found: FoundSecret[] = [];
  for await (const secrets of runInOrder(files, MAX_OPEN_FILES, findSecretsOf)) found.push(...secrets);
  return found;
}

async function findSecretsOf(file: PackFile): Promise<FoundSecret[]> {
  // A link and its target have different names.
  const kind = findSecretFileKind(basename(file.path)) ?? findSecretFileKind(basename(file.absolute));
  return kind ? [{ path: file.path, kind }] : findSecretsIn(file).catch(rethrowUnreadable(file));
}

/** Converts a system error to a PackError that names the file. */
export function rethrowUnreadable(file: PackFile) {
  return (error: NodeJS.ErrnoException): never => {
    if (!error.syscall) throw error;
    throw new PackError(`${quoteName(file.path)} cannot be read (${error.code}).`);
  };
}

/** Finds the kind of a secret file by its name, such as `.env`. */
export function findSecretFileKind(name: string): string | undefined {
  return SECRET_FILES.find(({ name: pattern }) => pattern.test(name))?.kind;
}

/** Longer than any match, so that a match at the end of a chunk is complete with the next chunk. */
const OVERLAP = 2048;
const CHUNK_BYTES = 256 * 1024;
const MAX_OPEN_FILES = 8;

async function findSecretsIn(file: PackFile): Promise<FoundSecret[]> {
  const found = new Map<string, FoundSecret>();
  let carried = '';
  let line = 1;
  let first = true;
  const search = (text: string, until: number) => {
    for (const { index, kind } of findSecretMatches(text)) {
      if (index >= until) continue;
      const at = line + countNewlines(text.slice(0, index));
      found.set(`${at} ${kind}`, { path: file.path, line: at, kind });
    }
    line += countNewlines(text.slice(0, until));
    carried = text.slice(until);
  };
  for await (const chunk of readChunks(file)) {
    if (first && chunk.subarray(0, 8192).includes(0)) return [];
    first = false;
    // In latin1 one byte is one character, so chunks never split a character; the patterns are ASCII.
    const text = carried + chunk.toString('latin1');
    search(text, Math.max(0, text.length - OVERLAP));
  }
  search(carried, carried.length);
  return [...found.values()];
}

/** The buffer of a chunk is used again for the next. */
async function* readChunks(file: PackFile): AsyncGenerator<Buffer> {
  const handle = await open(file.absolute);
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, file.size + 1));
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Finds secrets by their format in a text with one character per byte. */
export function* findSecretMatches(text: string): Generator<{ index: number; kind: string }> {
  if (!ANY_SHAPE.test(text)) return;
  for (const { kind, shape } of SECRET_SHAPES) {
    for (const match of text.matchAll(shape))
      if (!isPlaceholder(match[0])) yield { index: match.index, kind };
  }
}

/** `hf_xxxxxxxx` in a README is not a secret. Real keys are random: many different characters and none of these words. */
function isPlaceholder(match: string): boolean {
  const random = match.slice(-40);
  return (
    new Set(random).size < 8 || /example|your|placeholder|dummy|redacted|x{6}|1234567|abcdef/i.test(random)
  );
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
