import { Command as Commander, CommanderError, Help, Option } from 'commander';
import { usage } from '../terminal/failure.js';
import type { Argument, ArgumentValues, Command, CommandTree, Flag, FlagValues } from './command.js';

/** What the words of a command line mean. */
export type Parsed =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly args: ArgumentValues;
      readonly flags: FlagValues;
    }
  /** Help or the version was asked for, or a group was named without a command. */
  | { readonly kind: 'text'; readonly text: string; readonly asked: boolean };

/** What program.ts needs to know of the terminal. */
export interface Screen {
  readonly version: string;
  readonly columns: number;
}

/**
 * Reads a command line against the tree.
 * @throws Failure on unknown words and flags
 */
export function parseCommandLine(tree: CommandTree, argv: readonly string[], screen: Screen): Parsed {
  let text = '';
  let found: Parsed | undefined;
  const root = configure(new Commander('regen'), screen, (part) => {
    text += part;
  })
    .description('Publish node packs to a registry, and run the registry itself.')
    .version(screen.version, '-V, --version', 'print the version');
  for (const flag of tree.globals) root.addOption(toOption(flag));
  const groups = new Map<string, Commander>([['', root]]);
  for (const command of tree.commands) {
    const own = commandAt(groups, command.words, tree, command.hidden === true);
    describeCommand(own, command, tree.globals);
    own.action((...call: unknown[]) => {
      found = {
        kind: 'run',
        command,
        flags: readFlags(root, own, command),
        args: readArguments(command, call.slice(0, command.arguments.length)),
      };
    });
  }
  try {
    root.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed' || error.code === 'commander.version') {
      return { kind: 'text', text, asked: true };
    }
    if (error.code === 'commander.help') return { kind: 'text', text, asked: false };
    throw usage(toSentence(error.message), wordHint(argv) ?? helpHint(groups, argv));
  }
  return found ?? { kind: 'text', text: root.helpInformation(), asked: false };
}

function configure(command: Commander, screen: Screen, write: (text: string) => void): Commander {
  return command
    .exitOverride()
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .allowExcessArguments(false)
    .configureHelp({
      subcommandTerm: (command) =>
        `${command.name()} ${command.usage().replace(/^\[options\] ?|\[command\]$/g, '')}`.trim(),
      visibleGlobalOptions: () => [],
      minWidthToWrap: 20,
      formatItem(term, termWidth, description, helper) {
        return screen.columns < narrowScreen
          ? stackDescription(term, description, screen.columns, helper)
          : Help.prototype.formatItem.call(this, term, termWidth, description, helper);
      },
    })
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError: () => {},
      getOutHelpWidth: () => screen.columns,
      getErrHelpWidth: () => screen.columns,
    });
}

/** Below this many columns nothing is left for a description beside its flag. */
const narrowScreen = 72;

/** The description under what it describes, wrapped between words. */
function stackDescription(term: string, description: string, columns: number, helper: Help): string {
  const indent = '      ';
  const lines = description ? helper.boxWrap(description, columns - indent.length).split('\n') : [];
  return [`  ${term}`, ...lines.map((line) => indent + line)].join('\n');
}

function commandAt(
  groups: Map<string, Commander>,
  words: readonly string[],
  tree: CommandTree,
  hidden: boolean,
): Commander {
  const path = words.join(' ');
  const known = groups.get(path);
  if (known) return known;
  const parent = commandAt(groups, words.slice(0, -1), tree, false);
  const made = parent.createCommand(words.at(-1) as string).copyInheritedSettings(parent);
  parent.addCommand(made, { hidden });
  made.description(tree.groups[path] ?? '').helpCommand(false);
  groups.set(path, made);
  return made;
}

function describeCommand(own: Commander, command: Command, globals: readonly Flag[]): void {
  own.summary(command.summary).description(command.summary);
  own.usage(['[options]', ...command.arguments.map(formatArgument)].join(' '));
  // Declared optional: what is missing is said together with everything else that is wrong.
  for (const argument of command.arguments) {
    own.argument(`[${argument.name}${argument.variadic ? '...' : ''}]`, argument.description ?? '');
  }
  for (const flag of command.flags) for (const one of toOptions(flag)) own.addOption(one);
  for (const flag of globals.filter(({ only }) => !only || command.takes.includes(only))) {
    own.addOption(toOption(flag).helpGroup('Global options:'));
  }
  const { notes } = command;
  if (notes) own.addHelpText('after', () => `\n${wrapSentences(own, notes)}`);
  if (command.examples.length > 0) {
    own.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  $ ${line}`).join('\n')}`);
  }
}

/** Sentences below the flags, broken where the help's own text is. */
function wrapSentences(own: Commander, sentences: readonly string[]): string {
  const width = own.configureOutput().getOutHelpWidth?.() ?? 80;
  const helper = own.createHelp();
  return sentences.map((sentence) => helper.boxWrap(sentence, width)).join('\n');
}

function formatArgument({ name, required, variadic }: Argument): string {
  const inner = `${name}${variadic ? '...' : ''}`;
  return required ? `<${inner}>` : `[${inner}]`;
}

/** Commander would rename `snake_case` and dotted names; a flag's own long name is the key of its value here. */
class NamedOption extends Option {
  override attributeName(): string {
    return this.name().replace(/^no-/, '');
  }
}

function toOptions(flag: Flag): Option[] {
  if (!flag.negatable) return [toOption(flag)];
  return [toOption(flag), new NamedOption(`--no-${flag.name}`, 'the opposite')];
}

function toOption(flag: Flag): Option {
  const short = flag.short ? `-${flag.short}, ` : '';
  const value = flag.value ? ` <${flag.value}>` : '';
  const made = new NamedOption(`${short}--${flag.name}${value}`, flag.description);
  if (flag.hidden) made.hideHelp();
  if (flag.repeat) made.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  return made;
}

/**
 * Global flags stand before or after the words; a default never hides what was typed.
 * @throws Failure where a service is named to a command that talks to none: it would stop or show another one
 */
function readFlags(root: Commander, own: Commander, { words, takes }: Command): FlagValues {
  const typed = (command: Commander) =>
    Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) !== 'default');
  const before = typed(root);
  const astray = before.find(([name]) => namesService.includes(name));
  if (astray && !takes.includes('service')) {
    throw usage(`${words.join(' ')} takes no --${astray[0]}.`, `See: regen ${words.join(' ')} --help`);
  }
  return Object.fromEntries([...Object.entries(own.opts()), ...before, ...typed(own)]);
}

const namesService = ['base-url', 'profile', 'token-file'];

function readArguments(command: Command, values: readonly unknown[]): ArgumentValues {
  const named = command.arguments.map(({ name }, index) => [name, values[index]] as const);
  return Object.fromEntries(named) as ArgumentValues;
}

/** Commander's `error: unknown option '--x'\n(Did you mean --y?)` as one sentence. */
function toSentence(message: string): string {
  const text = message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!)]$/.test(whole) ? whole : `${whole}.`;
}

/** Words of other programs, and of habit, for commands of this one. */
const elsewhere: Readonly<Record<string, string>> = {
  publish: 'version publish',
  pack: 'version pack',
  login: 'auth login',
  logout: 'auth logout',
  whoami: 'auth status',
  search: 'node search',
  init: 'node init',
};

function wordHint([word = '']: readonly string[]): string | undefined {
  return Object.hasOwn(elsewhere, word) ? `It is: regen ${elsewhere[word]}` : undefined;
}

function helpHint(groups: ReadonlyMap<string, Commander>, argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  for (let count = words.length; count > 0; count--) {
    const path = words.slice(0, count).join(' ');
    if (groups.has(path)) return `See: regen ${path} --help`;
  }
  return 'See: regen --help';
}
