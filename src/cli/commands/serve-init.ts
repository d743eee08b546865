import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CommandContext } from '../connect/context.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';

/** Writes a configuration file in which every setting stands as a comment with its default. */
export async function run({ args, system, output }: CommandContext): Promise<void> {
  const path = resolve(system.cwd, (args.path as string | undefined) ?? 'regen.toml');
  const { writeConfigurationFile } = await import('../../service/index.js');
  try {
    writeFileSync(path, writeConfigurationFile(), { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw error;
    throw new Failure(`${path} already exists.`, { code: 'file_exists', exit: exitCodes.conflict });
  }
  await output.line(path);
  await output.note(`Next: regen serve --config ${shellWord(path)}`);
}
