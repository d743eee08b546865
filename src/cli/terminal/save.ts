import { join, resolve } from 'node:path';
import { isFolder, sanitizeName } from '../../flows/save-file.js';
import { usage } from './failure.js';

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
