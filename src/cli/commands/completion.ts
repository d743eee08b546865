import type { CommandTree } from '../command/command.js';
import { buildCompletionScript } from '../completion/scripts.js';
import tree from '../views/commands.generated.json' with { type: 'json' };
import type { CommandContext } from './context.js';

/** Prints the completion script of a shell, the last word of the command. */
export async function run({ command, output }: CommandContext): Promise<void> {
  await output.write(buildCompletionScript(tree as CommandTree, command.words.at(-1) as string));
}
