import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBuiltProgram } from '../../disk/built-program.js';
import type { CommandContext } from '../connect/context.js';

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: 'regen.bash',
  zsh: '_regen',
  fish: 'regen.fish',
  powershell: 'regen.ps1',
};

export async function run({ command, output }: CommandContext): Promise<void> {
  const name = SCRIPTS[command.words.at(-1) as string] as string;
  const folder = join(findBuiltProgram('commands'), '../../completions');
  await output.write(readFileSync(join(folder, name), 'utf8'));
}
