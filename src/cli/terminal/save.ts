import { existsSync, mkdirSync, statSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createPartPath } from '../../disk/part-file.js';
import { exitCodes, Failure, usage } from './failure.js';

/**
 * Resolves `--output <path|dir/>`.
 * @param name the file name if the flag does not have one; it may come from a service
 * @throws Failure for `-`
 */
export function resolveOutput(cwd: string, output: string | undefined, name: string): string {
  if (output === '-') throw usage('An archive cannot be written to stdout.', 'Pass a file or a folder/.');
  if (output === undefined) return join(cwd, sanitizeName(name));
  const path = resolve(cwd, output);
  return /[/\\]$/.test(output) || isFolder(path) ? join(path, sanitizeName(name)) : path;
}

/** Makes a name safe: it stays in its folder and is not hidden, even if it comes from a service. */
export function sanitizeName(name: string): string {
  return name.replace(/[^a-zA-Z0-9._+-]/g, '_').replace(/^\.+/, '_');
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
 * @throws Failure if the file already exists
 */
export async function saveFile(
  path: string,
  force: boolean,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  if (!force && existsSync(path)) throw toExistsFailure(path);
  mkdirSync(dirname(path), { recursive: true });
  const temporary = createPartPath(dirname(path));
  try {
    await write(temporary);
    if (force) await rename(temporary, path);
    else await moveWithoutReplacing(temporary, path);
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
    if (code === 'EEXIST') throw toExistsFailure(path);
    if (code === undefined || !['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(code)) throw error;
    // Some file systems do not support links.
    if (existsSync(path)) throw toExistsFailure(path);
    await rename(temporary, path);
  }
}

/** The failure for a path that already exists. */
export function toExistsFailure(path: string): Failure {
  if (isFolder(path)) return usage(`${path} is a folder.`, 'Add a / to the end to save into the folder.');
  return new Failure(`${path} already exists.`, {
    code: 'file_exists',
    exit: exitCodes.usage,
    hint: 'Choose another path, or pass --force to overwrite it.',
  });
}
