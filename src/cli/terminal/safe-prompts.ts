import { maskTokens } from '../../wire/mask-tokens.js';
import type { Prompts } from './prompts.js';
import { oneLine } from './text.js';

/**
 * Creates prompts that are loaded at the first question, and that escape what it is made of: choices and proposals may
 * come from a service or a folder.
 */
export function createSafePrompts(load: () => Promise<Prompts>): Prompts {
  let opened: Promise<Prompts> | undefined;
  const open = () => {
    opened ??= load();
    return opened;
  };
  return {
    password: async (message) => (await open()).password(clean(message)),
    confirm: async (message) => (await open()).confirm(clean(message)),
    async input(message, initial, findProblem) {
      const describe = (answer: string) => {
        const problem = findProblem?.(answer);
        return problem && clean(problem);
      };
      return (await open()).input(clean(message), initial && oneLine(initial), describe);
    },
    async select(message, choices) {
      const shown = choices.map(oneLine);
      const chosen = await (await open()).select(clean(message), shown);
      return choices[shown.indexOf(chosen)] as string;
    },
  };
}

function clean(message: string): string {
  return maskTokens(oneLine(message));
}
