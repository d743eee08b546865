import { accessSync, constants, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import type { Environment } from './keychain.js';
import type { System } from './system.js';

/**
 * Finds a program in the folders of PATH. The current folder may be another person's work: Windows would look there
 * first, and other systems where PATH has a relative entry.
 * @returns its absolute path
 */
export function findProgram(
  name: string,
  { env, platform }: Pick<System, 'env' | 'platform'>,
  isProgram = isRunnable,
): string | undefined {
  const { delimiter, extname, isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const needsEnding = platform === 'win32' && extname(name) === '';
  const names = needsEnding ? [`${name}.exe`, `${name}.com`] : [name];
  if (isAbsolute(name)) return names.find(isProgram);
  if (/[/\\]/.test(name)) return undefined;
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  return folders.flatMap((folder) => names.map((one) => join(folder, one))).find(isProgram);
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Splits a command into words. Quotes keep spaces; nothing else that a shell does is done. */
export function splitCommand(command: string): string[] {
  const words = command.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, (_, one, other) => one ?? other));
}

const SECRET_VARIABLES = /^REGEN_|TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|PRIVATE_KEY/i;

/** The environment for a program that the user has for other things, such as a pager: without secrets. */
export function removeSecrets(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET_VARIABLES.test(name)));
}
