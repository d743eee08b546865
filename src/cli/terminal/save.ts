import { existsSync, mkdirSync, statSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createPartPath } from '../../disk/part-file.js';
import { exitCodes, Failure, usage } from './failure.js';

/**
 * The path that `--output <path|dir/>` means.
 * @param name what the file is called where the flag names no file; it may come from a service
 * @throws Failure for `-`
 */
export function outputPath(cwd: string, output: string | undefined, name: string): string {
  if (output === '-') throw usage('An archive is saved in a file, not printed.', 'Name a file or a folder/.');
  if (output === undefined) return join(cwd, harmlessName(name));
  const path = resolve(cwd, output);
  return /[/\\]$/.test(output) || isFolder(path) ? join(path, harmlessName(name)) : path;
}

/** A name that stays in its folder and hides nowhere, whatever a service calls the thing. */
export function harmlessName(name: string): string {
  return name.replace(/[^a-zA-Z0-9._+-]/g, '_').replace(/^\.+/, '_');
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Writes a file under a temporary name and gives it its own once it is whole.
 * @param force whether an existing file may be replaced
 * @throws Failure where the file exists already
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
    else await name(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

// Unlike a rename, a link never replaces a file that somebody else wrote meanwhile.
async function name(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw toExistsFailure(path);
    if (code === undefined || !['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(code)) throw error;
    // Some file systems have no links.
    if (existsSync(path)) throw toExistsFailure(path);
    await rename(temporary, path);
  }
}

/** The failure to write over a file. */
export function toExistsFailure(path: string): Failure {
  if (isFolder(path)) return usage(`${path} is a folder.`, 'End it with / to save into it.');
  return new Failure(`${path} exists already.`, {
    code: 'file_exists',
    exit: exitCodes.usage,
    hint: 'Choose another name, or overwrite it with --force.',
  });
}
