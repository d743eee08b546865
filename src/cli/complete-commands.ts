import { type Command, type FlagValues, isFolderCommand, readText } from './command/command.js';
import { SERVICE_FLAGS } from './command/program.js';
import { shellWord } from './terminal/text.js';
import { BuiltTree } from './views/tree.js';

/** Flags of which a command in a message repeats all or none, because it may name its service itself. */
const ADDRESS_FLAGS = ['profile', 'base-url'];

/**
 * Adds to the commands in a message what was given on the command line and what they need to do the same: the service,
 * the data folder, and the folder of a pack unless there are several.
 */
export function completeCommands(text: string, flags: FlagValues, dir: unknown): string {
  const [folder, ...others] = [dir ?? []].flat() as string[];
  const isNamed = ADDRESS_FLAGS.some((flag) => text.includes(`--${flag} `));
  const given = [...(isNamed ? [] : ADDRESS_FLAGS), 'token-file', 'data', 'config'].filter(
    (flag) => readText(flags, flag) !== undefined && !text.includes(`--${flag} `),
  );
  if (given.length === 0 && folder === undefined) return text;
  const tree = new BuiltTree();
  return text.replace(/\bregen((?: [a-z][\w-]*| \d[\w.-]*\w)+)/g, (typed, rest: string) => {
    const command = tree.readTyped(rest.trim().split(' '))?.commands[0];
    if (!command) return typed;
    const words = ['regen', ...command.words].join(' ');
    const target = given
      .filter((flag) => takesFlag(command, flag))
      .map((flag) => ` --${flag} ${shellWord(readText(flags, flag) as string)}`);
    const isRepeated = folder !== undefined && others.length === 0 && isFolderCommand(command);
    return words + target.join('') + typed.slice(words.length) + (isRepeated ? ` ${shellWord(folder)}` : '');
  });
}

function takesFlag({ takes, words, flags }: Command, flag: string): boolean {
  if (flags.some(({ name }) => name === flag)) return true;
  // A sign-in takes another token than the one that was refused.
  return (
    takes.includes('service') &&
    SERVICE_FLAGS.includes(flag) &&
    !(flag === 'token-file' && words.includes('login'))
  );
}
