import type { Argument, Command, CommandTree, Flag } from './command.js';

/** The help of the program. Narrower screens get the same lines, wrapped. */
const WELCOME = {
  text: 'Publish node packs, make images and videos, or run the whole service yourself.\nA node pack is a folder of Python custom nodes for ComfyUI.',
  jobs: [
    ['regen version publish', 'Publish the node pack in this folder'],
    ['regen image relight photo.jpg', 'Relight, restyle, enhance or upscale images'],
    ['regen video text2video "a fox"', 'Make or extend a video, join two pictures'],
    ['regen serve', 'Run your own registry and generation service'],
  ] as const,
};

type Item = readonly [term: string, description: string];

/** A page of `regen help <topic>`. */
export interface Topic {
  readonly summary: string;
  readonly blocks: readonly TopicBlock[];
}

interface TopicBlock {
  readonly heading?: string;
  readonly text?: string;
  readonly items?: readonly Item[];
}

export function formatTopic({ summary, blocks }: Topic, columns: number): string {
  const texts = blocks.map(({ heading, text, items = [] }) => {
    const lines = formatItems(items, columns);
    return [heading, text && wrap(text, columns), ...lines].filter(Boolean).join('\n');
  });
  return `${[`${summary}.`, ...texts].join('\n\n')}\n`;
}

function formatItems(items: readonly Item[], columns: number): string[] {
  const termWidth = findTermWidth(items, columns);
  return items.map((item) => formatItem(item, termWidth, columns));
}

/** The width of the column of terms. A few long ones get a line of their own, so that descriptions have room. */
function findTermWidth(items: readonly Item[], columns: number): number {
  const longest = Math.max(0, ...items.map(([term]) => term.length));
  return Math.min(longest, Math.max(MIN_TERM_WIDTH, Math.floor(columns * MAX_TERM_SHARE)));
}

const MIN_TERM_WIDTH = 20;
const MAX_TERM_SHARE = 0.36;

function formatWelcome(tree: CommandTree, columns: number): string {
  const blocks = [
    wrap(WELCOME.text, columns),
    WELCOME.jobs.map((job) => formatItem(job, WELCOME.jobs[2][0].length, columns)).join('\n'),
    wrap(`Commands: ${tree.words.join(', ')}`, columns),
    wrap(`More: regen <command> --help; regen help <topic>: ${Object.keys(tree.topics).join(', ')}`, columns),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** Formats the help of a command, a group of commands, or with `''` of the program. */
export function formatHelp(tree: CommandTree, path: string, columns: number): string {
  if (path === '') return formatWelcome(tree, columns);
  const command = tree.commands.find(({ words }) => words.join(' ') === path);
  const lists = [
    ['Arguments:', listArguments(command)] as const,
    ...listSections(command),
    ['Commands:', listCommands(tree, path)] as const,
  ].filter(([, items]) => items.length > 0);
  const termWidth = findTermWidth(
    lists.flatMap(([, items]) => items),
    columns,
  );
  const globals = tree.globals.filter(({ only }) => !only || command?.takes.includes(only));
  const blocks = [
    wrapCommand(`Usage: ${formatUsage(path, command)}`, columns, ''),
    wrap(command?.summary ?? tree.groups[path] ?? '', columns),
    command?.examples.length &&
      ['Examples:', ...command.examples.map((line) => wrapCommand(`  $ ${line}`, columns, ' \\'))].join('\n'),
    ...lists.map(([heading, items]) =>
      [heading, ...items.map((item) => formatItem(item, termWidth, columns))].join('\n'),
    ),
    command?.notes?.map((sentence) => wrap(sentence, columns)).join('\n'),
    command &&
      wrap(
        `Global options (regen help options): ${globals.map(({ name }) => `--${name}`).join(', ')}`,
        columns,
      ),
  ];
  return `${blocks.filter(Boolean).join('\n\n')}\n`;
}

function formatUsage(path: string, command: Command | undefined): string {
  const rest = command ? ['[options]', ...command.arguments.map(formatArgument)] : ['[options]', '[command]'];
  return ['regen', path, ...rest].filter(Boolean).join(' ');
}

/** Options by what they are for, in the order of help. The others come first. */
const SECTIONS: readonly (readonly [heading: string, names: RegExp])[] = [
  ['Output:', /^(output|force|receipt|open|output-file|format|show)$/],
  ['Waiting:', /^(no-wait|timeout|interval|again)$/],
  ['Cost:', /^(max-credits|yes)$/],
  ['Request:', /^(body|dry-run|payload|webhook-url|callback-url)$/],
  ['Advanced settings:', /\./],
];
/** Commands with fewer options list them together. */
const MIN_SECTIONED = 12;

function listSections(command: Command | undefined): [heading: string, items: Item[]][] {
  const examples = command?.examples.join(' ') ?? '';
  // What the examples show is what people use most, and what belongs to it: --changelog with --changelog-file.
  const isCommon = ({ name }: Flag) => examples.includes(`--${name} `) || examples.includes(`--${name}-`);
  const all = command?.flags ?? [];
  const flags = [...all.filter(isCommon), ...all.filter((flag) => !isCommon(flag))];
  const help: Item = ['-h, --help', 'Show this help'];
  if (flags.length < MIN_SECTIONED) return [['Options:', [...listFlags(flags), help]]];
  const isOther = ({ name }: Flag) => !SECTIONS.some(([, names]) => names.test(name));
  const sections = SECTIONS.map(([heading, names]): [string, Item[]] => {
    return [heading, listFlags(flags.filter(({ name }) => names.test(name)))];
  });
  return [['Options:', [...listFlags(flags.filter(isOther)), help]], ...sections];
}

function listFlags(flags: readonly Flag[]): Item[] {
  return flags.filter(({ hidden }) => !hidden).map(toItem);
}

function toItem(flag: Flag): Item {
  const term = formatFlag(flag);
  return [flag.negatable ? term.replace('--', '--[no-]') : term, flag.description];
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
  const isLong = isNarrow || term.length > termWidth;
  const indent = isNarrow ? '      ' : ' '.repeat(termWidth + 4);
  if (description === '') return `  ${term}`;
  const lines = wrap(description, columns - indent.length).replaceAll('\n', `\n${indent}`);
  return isLong ? `  ${term}\n${indent}${lines}` : `  ${term.padEnd(termWidth)}  ${lines}`;
}

/** Wraps a command between its words, so that it can still be copied. `mark` continues a line in a shell. */
function wrapCommand(command: string, columns: number, mark: string): string {
  const [head = '', ...words] = command.match(/^ *\S+|(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const lines = [head];
  for (const word of words) {
    const last = `${lines.at(-1)} ${word}`;
    const isFull = columns >= MIN_WRAP_COLUMNS && last.length > columns - mark.length;
    if (!isFull) lines[lines.length - 1] = last;
    else lines.push(`      ${word}`);
  }
  return lines.join(`${mark}\n`);
}

/** Narrower text is not wrapped, because it could not be read. */
const MIN_WRAP_COLUMNS = 20;

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
