import { open } from 'node:fs/promises';
import { saveFile } from '../../flows/save-file.js';
import { resolveOutput } from '../terminal/save.js';
import type { System } from '../terminal/system.js';
import type { FlagValues } from './command.js';

/**
 * Writes a new secret into a file of `--output-file` that only its user can read. The file is there before the secret, so
 * that none is created that cannot be saved.
 * @returns the path
 */
export async function saveSecret(
  { flags, system }: { readonly flags: FlagValues; readonly system: Pick<System, 'cwd'> },
  { file, name }: { readonly file: string; readonly name: string },
  create: () => Promise<string>,
): Promise<string> {
  const path = resolveOutput(system.cwd, file, name);
  await saveFile(path, flags.force === true, async (temporary) => {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${await create()}\n`);
    } finally {
      await handle.close();
    }
  });
  return path;
}
