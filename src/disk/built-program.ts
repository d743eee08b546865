import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Finds a program in dist, such as `pack-reader.cjs`: beside the bundle, one folder up if this code is in a
 * chunk, or in dist if this code runs from its sources.
 * @throws Error if it was not built
 */
export function findBuiltProgram(name: string): string {
  const places = [`./${name}`, `../${name}`, `../../dist/${name}`];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((path) => existsSync(path));
  if (!file) throw new Error(`${name} is not built; run npm run build.`);
  return file;
}
