import { readdirSync } from 'node:fs';
import type { z } from 'zod';
import { getOperation } from '../contract/index.js';
import type { CommandTree } from './command/command.js';
import { loadCommand } from './run-command.js';
import { describeTasks, ErrorAnswer } from './views/answers.js';
import { deriveTree } from './views/derive.js';
import type { View } from './views/view.js';

const names = readdirSync(new URL('commands', import.meta.url)).map((file) => file.replace('.ts', ''));

const handWritten = await Promise.all(
  names.map(async (module): Promise<View[]> => {
    const { view } = await loadCommand(module);
    return [view?.() ?? []].flat().map((one) => ({ module, ...one }));
  }),
);

/** The whole command tree, from the sources. The program reads the one that the build wrote: see views/tree.ts. */
export const commandTree = (): CommandTree => deriveTree(handWritten.flat());

/** The schemas of what commands print with `--json`, where that is not the response of their operation. */
export function listAnswers(): Readonly<Record<string, z.ZodType>> {
  const composed = handWritten
    .flat()
    .map(({ usage, answer }) => [usage.replace(/ [<[].*/, ''), answer] as const);
  const started = commandTree().commands.map(({ words, module, operation = '' }) => {
    const { task } = (module === 'generate' && getOperation(operation)) || {};
    return [words.join(' '), task && describeTasks([operation, task.read])] as const;
  });
  const answers = [...composed, ...started, ['error', ErrorAnswer] as const];
  return Object.fromEntries(answers.flatMap(([name, answer]) => (answer ? [[name, answer]] : [])));
}
