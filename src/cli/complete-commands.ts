import { type Command, type FlagValues, isFolderCommand, readText } from './command/command.js';
import { SERVICE_FLAGS } from './command/program.js';
import { shellWord } from './terminal/text.js';
import { BuiltTree } from './views/tree.js';

/** Flags of which a command in a message repeats all or none, because it may name its service itself. */
const ADDRESS_FLAGS = ['profile', 'base-url'];

/** Commands for which the token that was given was refused, or is a key, which can create none. */
const TAKE_OTHER_TOKENS = ['auth login', 'key create', 'publisher token create'];

/**
 * Writes a command of a message with what was given on the command line and what it needs to do the same: the service,
 * the data folder, and the folder of a pack unless there are several.
 */
export function completeCommand(typed: string, rest: string, flags: FlagValues, dir: unknown): string {
  const [folder, ...others] = [dir ?? []].flat() as string[];
  const command = new BuiltTree().readTyped(typed.split(' '))?.commands[0];
  const isSet = (flag: string) => `${rest} `.includes(`--${flag} `);
  const given = [
    ...(ADDRESS_FLAGS.some(isSet) ? [] : ADDRESS_FLAGS),
    'token-file',
    'data',
    'config',
    'lock-file',
  ].flatMap((flag) => {
    const value = isSet(flag) ? undefined : readText(flags, flag);
    return command && value !== undefined && takesFlag(command, flag)
      ? [`--${flag} ${shellWord(value)}`]
      : [];
  });
  const isRepeated = folder !== undefined && others.length === 0 && command && isFolderCommand(command);
  return ['regen', typed, ...given, rest, isRepeated && shellWord(folder)].filter(Boolean).join(' ');
}

function takesFlag({ takes, words, flags }: Command, flag: string): boolean {
  if (flags.some(({ name }) => name === flag)) return true;
  const isForAnother = flag === 'token-file' && TAKE_OTHER_TOKENS.includes(words.join(' '));
  return takes.includes('service') && SERVICE_FLAGS.includes(flag) && !isForAnother;
}
