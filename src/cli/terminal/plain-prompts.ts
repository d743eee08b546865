import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { describeProblem, PromptCancelled, type Prompts } from './prompts.js';

type Terminal = Pick<NodeJS.Process, 'stdin' | 'stderr' | 'once' | 'off'>;

/** Asks one line. What is typed is echoed by the terminal itself, and nothing on the screen is written again. */
function askLine(terminal: Terminal, question: string, isSecret = false): Promise<string> {
  const { stdin, stderr } = terminal;
  stderr.write(`${question} `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface(
    isSecret ? { input: stdin, output: silent, terminal: true } : { input: stdin },
  );
  return new Promise((done, fail) => {
    const end = (outcome: () => void) => {
      terminal.off('SIGINT', cancel);
      stdin.off('close', cancel);
      lines.removeAllListeners();
      lines.close();
      outcome();
    };
    const cancel = () => {
      stderr.write('\n');
      end(() => fail(new PromptCancelled()));
    };
    terminal.once('SIGINT', cancel);
    lines.once('SIGINT', cancel);
    lines.once('close', cancel);
    stdin.once('close', cancel);
    lines.once('line', (line) => {
      if (isSecret) stderr.write('\n');
      end(() => done(line));
    });
  });
}

/** Prompts for screen readers and simple terminals: lines of plain text, and choices by number. */
export function createPlainPrompts(terminal: Terminal): Prompts {
  const ask = (question: string, isSecret?: boolean) => askLine(terminal, question, isSecret);
  return {
    password: (message) => ask(message, true),
    confirm: async (message) => /^y(es)?$/i.test((await ask(`${message} (y/N)`)).trim()),
    async input(message, initial, findProblem = () => undefined) {
      for (;;) {
        const typed = await ask(initial === undefined ? message : `${message} (${initial})`);
        const answer = typed === '' && initial !== undefined ? initial : typed;
        const problem = findProblem(answer.trim());
        if (problem === undefined) return answer;
        terminal.stderr.write(`${describeProblem(problem)}\n`);
      }
    },
    async select(message, choices) {
      const list = choices.map((choice, at) => `  ${at + 1}. ${choice}\n`).join('');
      terminal.stderr.write(`${message}\n${list}`);
      for (;;) {
        const typed = (await ask(`Number (1 to ${choices.length}):`)).trim();
        const chosen = choices[Number(typed) - 1] ?? choices.find((choice) => choice === typed);
        if (chosen !== undefined) return chosen;
      }
    },
  };
}
