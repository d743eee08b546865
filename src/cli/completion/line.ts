import type { Command, CommandTree } from '../command/command.js';
import { listFlagsAt } from './table.js';

/** An incomplete command line. */
export interface PartialLine {
  readonly command: Command | undefined;
  /** By name of the argument; a list has its last value. */
  readonly args: Readonly<Record<string, string>>;
  /** The values of flags, by long name. */
  readonly flags: Readonly<Record<string, string>>;
}

/** Parses the words before the current one. Never fails, because the command line is incomplete. */
export function parsePartialLine(tree: CommandTree, words: readonly string[]): PartialLine {
  const path: string[] = [];
  const typed: string[] = [];
  const flags: Record<string, string> = {};
  const commandAt = () => tree.commands.find((command) => command.words.join(' ') === path.join(' '));
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (word.startsWith('-')) {
      const [name, attached] = word.split(/=(.*)/s, 2) as [string, string?];
      const known = listFlagsAt(tree, commandAt());
      const flag = known.find((one) => `--${one.name}` === name || `-${one.short}` === name);
      if (!flag?.value) continue;
      // bash passes --flag=value as three words.
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
