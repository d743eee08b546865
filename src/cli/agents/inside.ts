import { existsSync, realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { usage } from '../terminal/failure.js';

/**
 * Finds a path that an agent named, below the folder that it was given; links are followed first.
 * @param folder its real path
 * @throws Failure if it is elsewhere
 */
export function resolveInside(folder: string, given: string): string {
  const path = resolve(folder, given);
  let known = path;
  while (!existsSync(known)) known = dirname(known);
  const real = realpathSync(known) + path.slice(known.length);
  if (`${real}${sep}`.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return path;
  throw usage('The path is outside the folder that was given to this server.', 'Use a path inside it.');
}
