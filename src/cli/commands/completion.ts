import { buildCompletionScript } from '../completion/scripts.js';
import { BuiltTree } from '../views/tree.js';
import type { CommandContext } from './context.js';

/** Prints the completion script of a shell, the last word of the command. */
export async function run({ command, output }: CommandContext): Promise<void> {
  await output.write(buildCompletionScript(new BuiltTree().readWhole(), command.words.at(-1) as string));
}
