import { type FlagValues, readText } from '../command/command.js';
import { shellWord } from '../terminal/text.js';

/** Formats the hint how to sign in to the service that the flags name. */
export function formatSignInHint(flags: FlagValues): string {
  const named = ['profile', 'base-url'].flatMap((flag) => {
    const value = readText(flags, flag);
    return value === undefined ? [] : [` --${flag} ${shellWord(value)}`];
  });
  return `Sign in with: regen auth login${named.join('')} (to use a token, add --with-token < token.txt)`;
}
