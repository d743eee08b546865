import { oneLine } from './text.js';

type FindProblem = (answer: string) => string | undefined;

/** Prompts, all on stderr. */
export interface Prompts {
  password(message: string): Promise<string>;
  confirm(message: string): Promise<boolean>;
  /** @param findProblem says what is wrong with an answer, such as `must not be empty`; the question is then asked again */
  input(message: string, initial?: string, findProblem?: FindProblem): Promise<string>;
  select(message: string, choices: readonly string[]): Promise<string>;
}

/** Ctrl-C at a prompt, where the terminal sends it as a key instead of a signal. */
export class PromptCancelled extends Error {
  override readonly name = 'PromptCancelled';
}

/** Makes a sentence of what is wrong with an answer; some problems are sentences that begin with the value. */
export function describeProblem(problem: string): string {
  return problem.startsWith("'") ? `${problem}.` : `It ${problem}.`;
}

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
