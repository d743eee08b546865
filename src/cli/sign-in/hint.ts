import type { Invocation } from '../command/invocation.js';
import { shellWord } from '../terminal/text.js';

/** How to sign in to the service that the flags of a command name. */
export function signInHint(invocation: Pick<Invocation, 'text'>): string {
  const named = ['profile', 'base-url'].flatMap((flag) => {
    const value = invocation.text(flag);
    return value === undefined ? [] : [` --${flag} ${shellWord(value)}`];
  });
  return `Sign in with: regen auth login${named.join('')} (with a token: add --with-token < token.txt)`;
}
