import { existsSync, realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { usage } from '../terminal/failure.js';

/** What is longer is not meant as a path. */
export const MAX_PATH_CHARACTERS = 1000;

/**
 * Whether a path that an agent named is below the folder that it was given; links are followed first.
 * @param folder its real path
 */
export function isInside(folder: string, given: string): boolean {
  const path = resolve(folder, given);
  let known = path;
  while (!existsSync(known)) known = dirname(known);
  const real = realpathSync(known) + path.slice(known.length);
  return `${real}${sep}`.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * Finds a path inside the folder of an agent.
 * @param name the argument that has it
 * @throws Failure if it is elsewhere
 */
export function resolveInside(folder: string, name: string, given: string): string {
  if (given.length > MAX_PATH_CHARACTERS) throw usage(`${name} is too long for a path.`);
  if (isInside(folder, given)) return resolve(folder, given);
  throw usage(`${name} is outside the folder that was given to this server.`, 'Use a path inside it.');
}
