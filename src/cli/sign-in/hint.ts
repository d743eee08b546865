import { type FlagValues, readText } from '../command/command.js';
import { shellWord } from '../terminal/text.js';

/** How to sign in to the service that the flags of a command name. */
export function signInHint(flags: FlagValues): string {
  const named = ['profile', 'base-url'].flatMap((flag) => {
    const value = readText(flags, flag);
    return value === undefined ? [] : [` --${flag} ${shellWord(value)}`];
  });
  return `Sign in with: regen auth login${named.join('')} (with a token: add --with-token < token.txt)`;
}
