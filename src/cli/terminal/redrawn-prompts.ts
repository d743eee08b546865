import { confirm, input, password, select } from '@inquirer/prompts';
import { describeProblem, PromptCancelled, type Prompts } from './prompts.js';
import { wrapText } from './width.js';

export function createRedrawnPrompts({ stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'>): Prompts {
  // An interrupted command closes its input, which inquirer does not notice.
  const closing = new AbortController();
  stdin.once('close', () => closing.abort());
  // inquirer writes to stdout by default, but stdout is only for answers.
  const context = { output: stderr, clearPromptOnDone: false, signal: closing.signal };
  return {
    password: (message) => waitFor(password({ message, mask: '*', toggleMask: false }, context)),
    confirm: (message) =>
      waitFor(confirm({ message: breakLines(message, stderr.columns), default: false }, context)),
    input: (message, initial, findProblem = () => undefined) => {
      const validate = (answer: string) => {
        const problem = findProblem(answer.trim());
        return problem === undefined || describeProblem(problem);
      };
      const start = initial !== undefined && { default: initial };
      return waitFor(input({ message, validate, ...start }, context));
    },
    select: (message, choices) => waitFor(select({ message, choices: [...choices] }, context)),
  };
}

async function waitFor<Answer>(answering: Promise<Answer>): Promise<Answer> {
  try {
    return await answering;
  } catch (error) {
    if (['ExitPromptError', 'AbortPromptError'].includes((error as Error).name)) throw new PromptCancelled();
    throw error;
  }
}

/** What `? ` and ` (y/N) ` take of a line, which inquirer would break between any two letters. */
const AROUND = 12;

function breakLines(message: string, columns = 80): string {
  return wrapText(message, Math.max(columns - AROUND, AROUND)).join('\n');
}
