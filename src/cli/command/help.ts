import type { Argument, Command, CommandTree, Flag } from './command.js';

const DESCRIPTION =
  'Publish node packs to a registry, generate images and videos, and run the service itself.\n' +
  'A node pack is a folder of custom nodes in Python for a node-graph host application.';

/** A flag, argument or command, and what it does. */
type Item = readonly [term: string, description: string];

/** Formats the help of a command, a group of commands, or with `''` of the program. */
export function formatHelp(tree: CommandTree, path: string, columns: number): string {
  const command = tree.commands.find(({ words }) => words.join(' ') === path);
  const lists = listItems(tree, path, command).filter(([, items]) => items.length > 0);
  const termWidth = Math.max(...lists.flatMap(([, items]) => items.map(([term]) => term.length)));
  const description = command?.summary ?? (path === '' ? DESCRIPTION : (tree.groups[path] ?? ''));
  const blocks = [
    `Usage: ${formatUsage(path, command)}`,
    wrap(description, columns),
    ...lists.map(([heading, items]) =>
      [heading, ...items.map((item) => formatItem(item, termWidth, columns))].join('\n'),
    ),
    command?.notes?.map((sentence) => wrap(sentence, columns)).join('\n'),
    command?.examples.length && ['Examples:', ...command.examples.map((line) => `  $ ${line}`)].join('\n'),
  ];
  return `${blocks.filter(Boolean).join('\n\n')}\n`;
}

function formatUsage(path: string, command: Command | undefined): string {
  const rest = command ? ['[options]', ...command.arguments.map(formatArgument)] : ['[options]', '[command]'];
  return ['regen', path, ...rest].filter(Boolean).join(' ');
}

function listItems(
  tree: CommandTree,
  path: string,
  command: Command | undefined,
): [heading: string, items: Item[]][] {
  const globals = tree.globals.filter(({ only }) => !only || command?.takes.includes(only));
  const own = path === '' ? [VERSION, ...tree.globals.map(toItem)] : listFlags(command);
  const options: [string, Item[]] = ['Options:', [...own, ['-h, --help', 'Show this help']]];
  const inherited: [string, Item[]] = ['Global options:', command ? globals.map(toItem) : []];
  return [
    ['Arguments:', listArguments(command)],
    ...(command && command.flags.length === 0 ? [inherited, options] : [options, inherited]),
    ['Commands:', listCommands(tree, path)],
  ];
}

const VERSION: Item = ['-V, --version', 'Show the version'];

function listFlags(command: Command | undefined): Item[] {
  return (command?.flags ?? [])
    .filter(({ hidden }) => !hidden)
    .flatMap((flag) => {
      const negated: Item = [`--no-${flag.name}`, `Turn off --${flag.name}`];
      return flag.negatable ? [toItem(flag), negated] : [toItem(flag)];
    });
}

function toItem(flag: Flag): Item {
  return [formatFlag(flag), flag.description];
}

/** The flag as help shows it: `-o, --output <path>`. */
export function formatFlag({ name, short, value }: Flag): string {
  return `${short ? `-${short}, ` : ''}--${name}${value ? ` <${value}>` : ''}`;
}

/** Arguments that are all clear from their names are not listed. */
function listArguments(command: Command | undefined): Item[] {
  const described = command?.arguments.some(({ description }) => description);
  return described
    ? (command as Command).arguments.map(({ name, description = '' }) => [name, description])
    : [];
}

function listCommands(tree: CommandTree, path: string): Item[] {
  return listSubcommands(tree, path).map(({ name, command, summary }) => {
    return [[name, ...(command?.arguments ?? []).map(formatArgument)].join(' '), summary];
  });
}

/** A group or command below another group. */
interface Subcommand {
  readonly name: string;
  readonly summary: string;
  /** Absent for a group. */
  readonly command: Command | undefined;
}

/** Lists the groups and commands one level below a path. */
export function listSubcommands(tree: CommandTree, path: string): Subcommand[] {
  const depth = path === '' ? 0 : path.split(' ').length;
  const below = tree.commands.filter(
    ({ words }) => words.length > depth && words.slice(0, depth).join(' ') === path,
  );
  const names = path === '' ? tree.words : below.map(({ words }) => words[depth] as string);
  return [...new Set(names)].map((name) => {
    const full = path === '' ? name : `${path} ${name}`;
    const command = below.find(({ words }) => words.join(' ') === full);
    return { name, command, summary: command?.summary ?? tree.groups[full] ?? '' };
  });
}

function formatArgument({ name, required, variadic }: Argument): string {
  const inner = `${name}${variadic ? '...' : ''}`;
  return required ? `<${inner}>` : `[${inner}]`;
}

/** On narrower screens there is no room for a description next to its flag. */
const NARROW_COLUMNS = 72;

function formatItem([term, description]: Item, termWidth: number, columns: number): string {
  const isNarrow = columns < NARROW_COLUMNS;
  const indent = isNarrow ? '      ' : ' '.repeat(termWidth + 4);
  if (description === '') return `  ${term}`;
  const lines = wrap(description, columns - indent.length).replaceAll('\n', `\n${indent}`);
  return isNarrow ? `  ${term}\n${indent}${lines}` : `  ${term.padEnd(termWidth)}  ${lines}`;
}

/** Narrower text is not wrapped, because it could not be read. */
const MIN_WRAP_COLUMNS = 20;

/** Wraps text between words. */
function wrap(text: string, columns: number): string {
  if (columns < MIN_WRAP_COLUMNS) return text;
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(text: string, columns: number): string {
  const lines: string[] = [];
  let line = '';
  for (const [chunk] of text.matchAll(/\s*\S+/g)) {
    if (line === '' || line.length + chunk.length <= columns) line += chunk;
    else {
      lines.push(line);
      line = chunk.trimStart();
    }
  }
  return [...lines, line].join('\n');
}
