import type { Argument, Command, CommandTree, Flag } from '../command/command.js';
import type { BuiltTree } from '../views/tree.js';

export interface Line {
  /** The command tree, with only the commands that begin with the first word. */
  readonly tree: CommandTree;
  /** The words that name a group or command. */
  readonly path: readonly string[];
  readonly command: Command | undefined;
  /** The words after the command. */
  readonly typed: readonly string[];
  /** The values of positionals by name; a list has its last value. */
  readonly args: Readonly<Record<string, string>>;
  /** The values of flags by long name. */
  readonly flags: Readonly<Record<string, string>>;
  /** The flag whose value is the current word. */
  readonly flag: Flag | undefined;
  /** The current word, without the flag of `--flag=value`. */
  readonly current: string;
  /** What precedes a value in the current word: `--flag=`. */
  readonly prefix: string;
}

/** Parses the words before the current one. Never fails, because the command line is incomplete. */
export function parseLine(built: BuiltTree, words: readonly string[], current: string): Line {
  let tree: CommandTree = built.index;
  let command: Command | undefined;
  let flag: Flag | undefined;
  const path: string[] = [];
  const typed: string[] = [];
  const flags: Record<string, string> = {};
  for (const word of words) {
    if (flag) {
      // In --flag=value, bash treats the = as a separate word.
      if (word === '=') continue;
      flags[flag.name] = word;
      flag = undefined;
    } else if (word.startsWith('-')) {
      const [name, value] = splitFlag(word);
      const found = findFlag(tree, command, name);
      if (found && value !== undefined) flags[found.name] = value;
      else flag = found;
    } else {
      if (path.length === 0) tree = { ...tree, commands: built.readCommands(word) };
      if (typed.length > 0 || !isPath(tree, [...path, word])) typed.push(word);
      else {
        path.push(word);
        command = tree.commands.find((one) => one.words.length === path.length && matches(one, path));
      }
    }
  }
  if (path.length === 0) tree = built.index;
  const line = { tree, path, command, typed, flags, args: nameArguments(command?.arguments ?? [], typed) };
  const [name, value] = splitFlag(current);
  if (flag) return { ...line, flag, current: current === '=' ? '' : current, prefix: '' };
  if (!name.startsWith('--') || value === undefined) return { ...line, flag, current, prefix: '' };
  return { ...line, flag: findFlag(tree, command, name), current: value, prefix: `${name}=` };
}

function splitFlag(word: string): [name: string, value: string | undefined] {
  const at = word.indexOf('=');
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function findFlag(tree: CommandTree, command: Command | undefined, written: string): Flag | undefined {
  return listFlags(tree, command).find(
    ({ name, short, value }) => value !== undefined && (`--${name}` === written || `-${short}` === written),
  );
}

/** Lists the flags of a command; for a group, the global flags, because they can be given before the command. */
export function listFlags(tree: CommandTree, command: Command | undefined): readonly Flag[] {
  if (!command) return tree.globals;
  return [...command.flags, ...tree.globals.filter(({ only }) => !only || command.takes.includes(only))];
}

function isPath(tree: CommandTree, path: readonly string[]): boolean {
  return tree.commands.some((command) => matches(command, path));
}

/** Whether a command begins with some words; its last word may be an alias. */
function matches({ words, aliases = [] }: Command, path: readonly string[]): boolean {
  return path.every(
    (word, index) => words[index] === word || (index === words.length - 1 && aliases.includes(word)),
  );
}

function nameArguments(expected: readonly Argument[], typed: readonly string[]): Record<string, string> {
  const names = expected.map(({ name }, index) => [name, typed[index]] as const);
  return Object.fromEntries(names.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
