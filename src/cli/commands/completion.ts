import type { CommandTree } from '../command/command.js';
import type { Invocation } from '../command/invocation.js';
import tree from '../commands.generated.json' with { type: 'json' };
import { completionScript } from '../completion/scripts.js';

/** Prints the completion script of the shell that the command's last word names. */
export async function run({ command, output }: Invocation): Promise<void> {
  await output.write(completionScript(tree as CommandTree, command.words.at(-1) as string));
}
