import type { Problem } from '../schema/schema-types.js';
import { Naming } from './naming.js';
import type { NamingMap } from './naming-map.js';

/** The namings that need no file. `regen` is the identity. */
export const namingNames = ['regen', 'comfy'] as const;

/** A naming that cannot be used, with everything that is wrong. */
export class InvalidNaming extends Error {
  override readonly name = 'InvalidNaming';
  constructor(
    readonly source: string,
    readonly problems: readonly Problem[],
  ) {
    super(
      `${source}: ${problems.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; ')}`,
    );
  }
}

/**
 * Loads a naming by its name, or from the text of a file.
 * @param readFile reads the file if `name` is a path; throws if it cannot
 * @returns undefined for the identity
 * @throws InvalidNaming
 */
export async function loadNaming(
  name: string,
  readFile: (path: string) => string,
): Promise<Naming | undefined> {
  if (name === 'regen') return undefined;
  if (name === 'comfy') {
    const { default: comfy } = await import('./comfy.json', { with: { type: 'json' } });
    return new Naming(comfy as unknown as NamingMap);
  }
  const { parseNaming } = await import('./parse-naming.js');
  const parsed = parseNaming(parseJson(name, readFile(name)));
  if (!parsed.ok) throw new InvalidNaming(name, parsed.problems);
  return new Naming(parsed.map);
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidNaming(path, [{ path: [], message: 'is not valid JSON' }]);
  }
}
