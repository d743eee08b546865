import type { CommandTree } from '../command/command.js';
import { buildBashScript } from './bash.js';
import { buildFishScript } from './fish.js';
import { buildPowershellScript } from './powershell.js';
import { listCompletionPoints } from './table.js';
import { buildZshScript } from './zsh.js';

const BUILDERS = {
  bash: buildBashScript,
  zsh: buildZshScript,
  fish: buildFishScript,
  powershell: buildPowershellScript,
};

/** Builds the completion script of a shell from the command tree. */
export function buildCompletionScript(tree: CommandTree, shell: string): string {
  const build = (BUILDERS as Record<string, (typeof BUILDERS)['bash']>)[shell];
  if (!build) throw new Error(`There is no completion for ${shell}.`);
  return build(listCompletionPoints(tree));
}
