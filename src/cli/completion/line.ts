import type { Command, CommandTree } from '../command/command.js';
import { flagsAt } from './table.js';

/** A command line that is still being typed. */
export interface Line {
  readonly command: Command | undefined;
  /** By the argument's name; a list has its last value. */
  readonly args: Readonly<Record<string, string>>;
  /** The flags with a value, by long name. */
  readonly flags: Readonly<Record<string, string>>;
}

/** Reads the words before the one that is being typed. Nothing is refused: it is not finished. */
export function readLine(tree: CommandTree, words: readonly string[]): Line {
  const path: string[] = [];
  const typed: string[] = [];
  const flags: Record<string, string> = {};
  const commandAt = () => tree.commands.find((command) => command.words.join(' ') === path.join(' '));
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (word.startsWith('-')) {
      const [name, attached] = word.split(/=(.*)/s, 2) as [string, string?];
      const known = flagsAt(tree, commandAt());
      const flag = known.find((one) => `--${one.name}` === name || `-${one.short}` === name);
      if (!flag?.value) continue;
      // bash hands over --flag=value as three words.
      if (attached === undefined && words[index + 1] === '=') index++;
      flags[flag.name] = attached ?? words[++index] ?? '';
    } else if (typed.length === 0 && isWord(tree, [...path, word])) path.push(word);
    else typed.push(word);
  }
  const command = commandAt();
  const names = command?.arguments.map(({ name }, index) => [name, typed[index]] as const) ?? [];
  const args = Object.fromEntries(
    names.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return { command, args, flags };
}

function isWord(tree: CommandTree, path: readonly string[]): boolean {
  return tree.commands.some(({ words }) => path.every((word, index) => words[index] === word));
}
