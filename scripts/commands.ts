import { mkdirSync } from 'node:fs';
import type { CommandTree } from '../src/cli/command/command.js';
import { commandTree, listAnswers } from '../src/cli/command-tree.js';
import { completeTopics } from '../src/cli/views/topics.js';
import { toJsonSchema } from '../src/contract/schema/json-schema.js';
import { writeManualPages } from './man.js';
import { writeIfChanged } from './write-if-changed.js';

const FOLDER = 'dist/commands';

/**
 * Writes the command tree as plain data, one file for each first word, so that the command line starts without the
 * contract's schemas and reads only what was typed.
 */
export function writeCommands(): void {
  const tree = commandTree();
  mkdirSync(FOLDER, { recursive: true });
  for (const word of tree.words) {
    writeIfChanged(
      `${FOLDER}/${word}.json`,
      tree.commands.filter(({ words }) => words[0] === word),
    );
  }
  const topics = completeTopics(tree);
  writeIfChanged(`${FOLDER}/topics.json`, topics);
  const answers = Object.entries(listAnswers()).map(([name, answer]) => [
    name,
    toJsonSchema(answer, 'output'),
  ]);
  writeIfChanged(`${FOLDER}/answers.json`, Object.fromEntries(answers));
  writeManualPages(tree, topics);
  // The help of the program shows the first level only.
  const first = tree.commands.filter(({ words }) => words.length === 1);
  const commands = first.map((command) => ({ ...command, flags: [], examples: [], notes: [] }));
  writeIfChanged(`${FOLDER}/index.json`, { ...tree, commands } satisfies CommandTree);
}
