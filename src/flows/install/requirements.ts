import { createTextReader, type ReadText } from '../../pack/pack-text.js';
import { readPyproject } from '../../pack/pyproject.js';
import { readRequirements } from '../../pack/requirements.js';

const FILE = 'requirements.txt';

/**
 * Collects what the packs in some folders need from pip: what their requirements.txt lists, else their pyproject.toml.
 * @param warn called for what is left out, such as options of pip
 * @returns sorted, each requirement once
 */
export async function collectRequirements(
  paths: readonly string[],
  warn: (path: string, problem: string) => Promise<void>,
): Promise<string[]> {
  const all = new Set<string>();
  for (const path of paths) {
    const read = createTextReader(path);
    const hasFile = 'text' in (await read(FILE));
    const { dependencies, skipped, problems } = await readRequirements(
      [FILE],
      hasFile ? read : createManifestReader(path),
    );
    for (const one of dependencies) all.add(one);
    for (const line of skipped) await warn(path, `${FILE} asks for ${line}; ignored`);
    for (const problem of problems) await warn(path, `${FILE} ${problem}`);
  }
  return [...all].sort();
}

/** The dependencies in a manifest as if they were lines of a requirements file: another text than one line of it is not. */
function createManifestReader(path: string): ReadText {
  return async (name) => {
    if (name !== FILE) return { problem: `refers to ${name}, which does not exist` };
    return { text: ((await readPyproject(path)).value?.project?.dependencies ?? []).join('\n') };
  };
}
