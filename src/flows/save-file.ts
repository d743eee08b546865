import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { requireRegular } from '../disk/folder-file.js';
import { createPartPath } from '../disk/part-file.js';
import { FlowError } from './flow-error.js';

/** A result of a task that was saved. */
export interface Saved {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Detected from its bytes, not from its path, such as image/png; absent if it is unknown. */
  readonly mediaType?: string;
}

/** Leaves room for a task id, a number and endings: file systems take 255 bytes. */
const MAX_NAME_BYTES = 180;
/** What some system forbids, what cannot be seen, and the braces of placeholders. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*{}]/gu;

/** Makes a name safe: it stays in its folder, is not hidden or too long, even if it comes from a service. */
export function sanitizeName(name: string): string {
  const safe = name.trim().replace(UNSAFE, '_').replace(/^\.+/, '_');
  if (Buffer.byteLength(safe) <= MAX_NAME_BYTES) return safe;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  const ending = `-${digest}${extname(safe).slice(0, 20)}`;
  return cutBytes(safe, MAX_NAME_BYTES - Buffer.byteLength(ending)) + ending;
}

function cutBytes(text: string, maxBytes: number): string {
  let bytes = 0;
  const kept = Array.from(text).filter((char) => {
    bytes += Buffer.byteLength(char);
    return bytes <= maxBytes;
  });
  return kept.join('');
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Writes a file under a temporary name, and renames it once it is complete.
 * @param force whether an existing file may be replaced
 * @throws FlowError if the file already exists
 */
export async function saveFile<Result>(
  path: string,
  force: boolean,
  write: (temporary: string) => Promise<Result>,
): Promise<Result> {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (!force && existing) throw toExistsError(path);
  // A rename would replace a device such as /dev/null.
  if (existing) requireRegular(path, existing);
  mkdirSync(dirname(path), { recursive: true });
  const temporary = createPartPath(dirname(path));
  try {
    const result = await write(temporary);
    if (force) await rename(temporary, path);
    else await moveWithoutReplacing(temporary, path);
    return result;
  } finally {
    await rm(temporary, { force: true });
  }
}

// Unlike a rename, a link never replaces a file that another process has just written.
async function moveWithoutReplacing(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw toExistsError(path);
    if (code === undefined || !['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(code)) throw error;
    // Some file systems do not support links.
    if (existsSync(path)) throw toExistsError(path);
    await rename(temporary, path);
  }
}

export function toExistsError(path: string): FlowError {
  return isFolder(path)
    ? new FlowError('folder_exists', `${path} is a folder.`)
    : new FlowError('file_exists', `${path} already exists.`);
}
