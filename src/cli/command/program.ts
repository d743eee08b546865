import { Command as Commander, CommanderError, Option } from 'commander';
import { regen, say, type Text } from '../../contract/schema/message.js';
import { splitNodeVersion } from '../../contract/schema/node-id.js';
import { findNearest } from '../../wire/nearest.js';
import { type Failure, usage } from '../terminal/failure.js';
import { capitalize } from '../terminal/text.js';
import type { ArgumentValues, Command, CommandTree, Flag, FlagValues, ParsedCommand } from './command.js';
import { suggestCommand, suggestToken } from './familiar-names.js';
import { formatFlag, formatHelp } from './help.js';

export type ParsedCommandLine =
  | ({ readonly kind: 'run' } & ParsedCommand)
  /** Help or the version. `asked` is false for a group without a command. */
  | { readonly kind: 'text'; readonly text: string; readonly asked: boolean };

export interface Screen {
  readonly version: string;
  readonly columns: number;
}

/**
 * Parses a command line.
 * @throws Failure for unknown commands and flags
 */
export function parseCommandLine(
  tree: CommandTree,
  argv: readonly string[],
  screen: Screen,
): ParsedCommandLine {
  let text = '';
  let found: ParsedCommandLine | undefined;
  let shown: Commander | undefined;
  const formatPage = (command: Commander) => {
    shown = command;
    return formatHelp(tree, findPath(command), screen.columns);
  };
  const root = configureCommand(new Commander('regen'), formatPage, (part) => {
    text += part;
  }).version(screen.version, '-V, --version');
  for (const flag of tree.globals) root.addOption(toOption(flag));
  const groups = new Map<string, Commander>([['', root]]);
  for (const command of tree.commands) {
    const own = findOrCreateCommand(groups, command.words);
    for (const alias of command.aliases ?? [])
      groups.set([...command.words.slice(0, -1), alias].join(' '), own);
    describeCommand(own, command, tree.globals);
    own.action((...call: unknown[]) => {
      found = {
        kind: 'run',
        command,
        flags: readFlags(root, own, command),
        args: readArguments(command, call.slice(0, -2)),
      };
    });
  }
  try {
    root.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed' || error.code === 'commander.version') {
      refuseUnknown(tree, shown, argv);
      return { kind: 'text', text, asked: true };
    }
    if (error.code === 'commander.help') return { kind: 'text', text, asked: false };
    const own = groups.get(findPathIn(groups, argv)) as Commander;
    const [word] = own.args;
    if (error.code === 'commander.excessArguments' && own.commands.length > 0 && word !== undefined)
      throw toUnknownCommand(own, word, argv, tree);
    const path = findPathIn(groups, argv);
    const [, option = ''] = /^error: unknown option '([^'=\n]*)/.exec(error.message) ?? [];
    const familiar = suggestCommand(argv) ?? suggestToken(option, path, tree);
    const names = familiar ? [] : listNames(own, error.code, tree);
    const sentence = toSentence(familiar ? error.message.replace(/\n.*/s, '') : error.message, names);
    const others = sentence.endsWith('.') ? names : [];
    const [, file = ''] = sentence.split("'");
    if (/^-[^-]/.test(file) && file.includes('.')) throw usage(sentence, `If it is a file, write ./${file}`);
    throw usage(sentence, familiar ?? suggestSeparator(own, path, tree) ?? suggestHelp(path, others));
  }
  return found ?? { kind: 'text', text: formatPage(root), asked: false };
}

function configureCommand(
  command: Commander,
  formatPage: (command: Commander) => string,
  write: (text: string) => void,
): Commander {
  return command
    .exitOverride()
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .helpOption('-h, --help', 'Show this help')
    .helpCommand(false)
    .allowExcessArguments(false)
    .configureHelp({ formatHelp: formatPage })
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {} });
}

function findPath(command: Commander): string {
  return command.parent ? `${findPath(command.parent)} ${command.name()}`.trim() : '';
}

function findOrCreateCommand(groups: Map<string, Commander>, words: readonly string[]): Commander {
  const path = words.join(' ');
  const known = groups.get(path);
  if (known) return known;
  const parent = findOrCreateCommand(groups, words.slice(0, -1));
  const made = parent.createCommand(words.at(-1) as string).copyInheritedSettings(parent);
  parent.addCommand(made);
  made.helpCommand(false);
  groups.set(path, made);
  return made;
}

function describeCommand(own: Commander, command: Command, globals: readonly Flag[]): void {
  // Declared as optional, so that a missing one is reported together with all other problems.
  for (const { name, variadic } of command.arguments) own.argument(`[${name}${variadic ? '...' : ''}]`);
  if (command.implied) own.argument(`[${command.implied}]`);
  own.aliases([...(command.aliases ?? [])]);
  for (const flag of command.flags) for (const one of toOptions(flag)) own.addOption(one);
  for (const flag of globals.filter(({ only }) => !only || command.takes.includes(only))) {
    own.addOption(toOption(flag));
  }
}

/** Commander would rename `snake_case` and dotted names; here the key of a value is the long name of its flag. */
class NamedOption extends Option {
  override attributeName(): string {
    return this.name().replace(/^no-/, '');
  }
}

function toOptions(flag: Flag): Option[] {
  if (!flag.negatable) return [toOption(flag)];
  return [toOption(flag), new NamedOption(`--no-${flag.name}`)];
}

function toOption(flag: Flag): Option {
  const made = new NamedOption(formatFlag(flag));
  // The nearest names of a mistyped flag are those that help shows.
  if (flag.hidden) made.hideHelp();
  if (flag.repeat) made.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  return made;
}

/**
 * Reads global flags before and after the command; a default never overrides a given value.
 * @throws Failure if a service is named for a command that does not use one and would act on another service
 */
function readFlags(root: Commander, own: Commander, { words, takes, flags: declared }: Command): FlagValues {
  const typed = (command: Commander) =>
    Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) !== 'default');
  const before = typed(root);
  const unused = before.find(([name]) => SERVICE_FLAGS.includes(name));
  if (unused && !takes.includes('service')) {
    throw usage(
      `regen ${words.join(' ')} does not accept --${unused[0]}.`,
      say`See: ${regen(words.join(' '), '--help')}`,
    );
  }
  const flags = [...Object.entries(own.opts()), ...before, ...typed(own)];
  // Usually an unset variable of a script. A field of a request may be empty.
  const empty = flags.find(
    ([name, value]) =>
      value === '' && !declared.some((flag) => flag.name === name && flag.target !== undefined),
  );
  if (empty)
    throw usage(
      say`${{ flag: empty[0] }} must not be empty.`,
      'Check that the variable with its value is set.',
    );
  return Object.fromEntries(flags);
}

export const SERVICE_FLAGS = ['base-url', 'profile', 'token-file'];

function readArguments(command: Command, values: readonly unknown[]): ArgumentValues {
  const names = command.arguments.map(({ name }) => name);
  // An earlier order has it first.
  const isTyped = command.implied !== undefined && values[names.length] !== undefined;
  const all = isTyped ? [command.implied as string, ...names] : names;
  const given = splitVersion(all, values);
  return Object.fromEntries(all.map((name, index) => [name, given[index]] as const)) as ArgumentValues;
}

/** Reads `node@version` for a node and a version or a range that are two arguments. */
function splitVersion(names: readonly string[], values: readonly unknown[]): readonly unknown[] {
  const at = names.findIndex((name) => /^node_?id$/i.test(name));
  const isPair =
    at >= 0 && /version(Id)?$|^range$/.test(names[at + 1] ?? '') && values[names.length - 1] === undefined;
  const [node, version] = isPair ? splitNodeVersion(String(values[at] ?? '')) : [];
  if (!node || !version) return values;
  return [...values.slice(0, at), node, version, ...values.slice(at + 1)];
}

/**
 * Converts Commander's `error: unknown option '--x'\n(Did you mean --y?)` to one sentence. Commander also suggests names
 * with half of the letters wrong (`--json` for `--reason`); the nearest is kept if it is near.
 */
function toSentence(message: string, known: readonly string[]): string {
  // The value of an unknown option may be a password.
  const [own = '', suggested = ''] = message
    .replace(/^(error: unknown option '[^'=]*)=.*'/s, "$1'")
    .split('\n(Did you mean ');
  const [, word = ''] = own.split("'");
  const names = [...suggested.replace(/^one of |\?\)$/g, '').split(', '), ...known].map((name) =>
    name.replace(/^--/, ''),
  );
  // Where images and videos name the same differently.
  const twin = [TWINS, [...TWINS].reverse()].find(([name]) => word === `--${name}`)?.[1];
  const near =
    twin && names.includes(twin)
      ? twin
      : findNearest(word.replace(/^--/, ''), [...new Set(names)].filter(Boolean));
  const text = capitalize(own.replace(/^error: /, '').replace(/\s*\n\s*/g, ' '));
  if (near) return `${text} (Did you mean ${word.startsWith('--') ? '--' : ''}${near}?)`;
  return /[.?!)]$/.test(text) ? text : `${text}.`;
}

const TWINS: readonly string[] = ['webhook-url', 'callback-url'];

/** Refuses help of a command or topic that does not exist, instead of showing that of its group. */
function refuseUnknown(tree: CommandTree, shown: Commander | undefined, argv: readonly string[]): void {
  if (!shown || shown.registeredArguments.length > 0) return;
  // A group does not know the global flags. After one with a value, the next word is the value.
  const bare = tree.globals.filter(({ value }) => !value).map(({ name }) => `--${name}`);
  const word = shown.args.find((one) => !bare.includes(one));
  if (word && !word.startsWith('-')) throw toUnknownCommand(shown, word, argv, tree);
}

function toUnknownCommand(own: Commander, word: string, argv: readonly string[], tree: CommandTree): Failure {
  const familiar = suggestCommand(argv);
  const near = familiar
    ? undefined
    : findNearest(
        word,
        own.commands.map((command) => command.name()),
      );
  const path = findPath(own);
  const others = near ? [] : listNames(own, 'commander.unknownCommand', tree);
  const hint = familiar ?? (path === '' ? say`See: ${regen('help')}` : suggestHelp(path, others));
  const what = path === '' ? 'command or topic' : 'command';
  return usage(`Unknown ${what} '${word}'${near ? ` (Did you mean ${near}?)` : '.'}`, hint);
}

/** The names that an unknown word could have been. */
function listNames(own: Commander, code: string, { commands }: CommandTree): string[] {
  if (code === 'commander.unknownCommand' && own.parent) return own.commands.map((command) => command.name());
  if (code !== 'commander.unknownOption') return [];
  const flags = commands.find(({ words }) => words.join(' ') === findPath(own))?.flags ?? [];
  return flags.filter(({ hidden }) => !hidden).map(({ name }) => `--${name}`);
}

/** For an option of a program that is to be run. */
function suggestSeparator({ args: [program = '-'] }: Commander, path: string, { commands }: CommandTree) {
  const { examples = [] } = commands.find(({ words }) => words.join(' ') === path) ?? {};
  const example = examples.find((one) => one.includes(' -- '));
  if (!example || program.startsWith('-')) return undefined;
  return `Write the command to run after --, such as: ${example}`;
}

const MAX_NAMES = 8;

/** Names what there is instead of an unknown word, where that is few. */
function suggestHelp(path: string, names: readonly string[]): Text {
  const help = say`See: ${regen(path, '--help')}`;
  if (names.length === 0 || names.length > MAX_NAMES) return help;
  return say`${names[0]?.startsWith('--') ? 'Its options' : 'Its commands'}: ${names.join(', ')}. ${help}`;
}

/** The words of the command or group on a command line. */
function findPathIn(groups: ReadonlyMap<string, Commander>, argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  const paths = words.map((_, index) => words.slice(0, index + 1).join(' '));
  return paths.findLast((path) => groups.has(path)) ?? '';
}
