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
    password: async (message) => (await open()).password(oneLine(message)),
    confirm: async (message) => (await open()).confirm(oneLine(message)),
    async input(message, initial, findProblem) {
      const describe = (answer: string) => {
        const problem = findProblem?.(answer);
        return problem && oneLine(problem);
      };
      return (await open()).input(oneLine(message), initial && oneLine(initial), describe);
    },
    async select(message, choices) {
      const shown = choices.map(oneLine);
      const chosen = await (await open()).select(oneLine(message), shown);
      return choices[shown.indexOf(chosen)] as string;
    },
  };
}
