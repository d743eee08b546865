import type { CommandTree } from '../command/command.js';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import { powershellScript } from './powershell.js';
import { listPlaces } from './table.js';
import { zshScript } from './zsh.js';

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript };

/** The completion script of each shell, made of the command tree. */
export function completionScript(tree: CommandTree, shell: string): string {
  const make = (shells as Record<string, (typeof shells)['bash']>)[shell];
  if (!make) throw new Error(`There is no completion for ${shell}.`);
  return make(listPlaces(tree));
}
