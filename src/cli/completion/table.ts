import type { Argument, Command, CommandTree, Flag } from '../command/command.js';
import type { LiveKind } from './live.js';

/**
 * How to complete a value: `choice:a,b`, `file`, `folder`, `live:<kind>` for values of the service, or `text` for no
 * completion.
 */
export type Hint = 'text' | 'file' | 'folder' | `choice:${string}` | `live:${LiveKind}`;

export interface Offer {
  readonly name: string;
  /** A description in one line. */
  readonly text: string;
}

/** What can follow certain words of a command line. All four scripts are built only from a list of these. */
export interface CompletionPoint {
  /** The words so far: `''`, `node`, `node get`. */
  readonly path: string;
  readonly commands: readonly Offer[];
  readonly flags: readonly Offer[];
  /** The flags that take a value, including short names. */
  readonly values: readonly { readonly name: string; readonly hint: Hint }[];
  /** In order; the last one repeats if it ends in `...`. */
  readonly arguments: readonly (Hint | `${Hint}...`)[];
}

export function listCompletionPoints(tree: CommandTree): CompletionPoint[] {
  const shown = tree.commands.filter(({ hidden }) => !hidden);
  const paths = shown.flatMap(({ words }) => words.map((_, count) => words.slice(0, count).join(' ')));
  const all = new Set([...paths, ...shown.map(({ words }) => words.join(' '))]);
  return [...all].sort().map((path) => describePoint(tree, shown, path));
}

function describePoint(tree: CommandTree, shown: readonly Command[], path: string): CompletionPoint {
  const command = shown.find(({ words }) => words.join(' ') === path);
  const flags = listFlagsAt(tree, command).filter(({ hidden }) => !hidden);
  return {
    path,
    commands: listCommandsAt(tree, shown, path),
    flags: [...flags.flatMap(toOffers), { name: '--help', text: 'Show help' }],
    values: flags.flatMap(listValues),
    arguments: (command?.arguments ?? []).map((argument) => {
      const hint = chooseHint(argument, command);
      return argument.variadic ? (`${hint}...` as const) : hint;
    }),
  };
}

function listCommandsAt(tree: CommandTree, shown: readonly Command[], path: string): Offer[] {
  const depth = path === '' ? 0 : path.split(' ').length;
  const below = shown.filter(({ words }) => words.length > depth && words.slice(0, depth).join(' ') === path);
  const names = new Set(below.map(({ words }) => words[depth] as string));
  return [...names].map((name) => {
    const full = path === '' ? name : `${path} ${name}`;
    const own = shown.find(({ words }) => words.join(' ') === full);
    return { name, text: shortenText(own?.summary ?? tree.groups[full] ?? '') };
  });
}

/** Lists the flags of a command; for a group, the global flags, because they can be given before the command. */
export function listFlagsAt(tree: CommandTree, command: Command | undefined): Flag[] {
  if (!command) return [...tree.globals];
  return [...command.flags, ...tree.globals.filter(({ only }) => !only || command.takes.includes(only))];
}

function toOffers({ name, description, negatable }: Flag): Offer[] {
  const text = shortenText(description);
  const flag = { name: `--${name}`, text };
  return negatable ? [flag, { name: `--no-${name}`, text: `Turn off --${name}` }] : [flag];
}

function listValues(flag: Flag): CompletionPoint['values'] {
  if (!flag.value) return [];
  const hint = chooseHint(flag);
  const short = flag.short ? [{ name: `-${flag.short}`, hint }] : [];
  return [{ name: `--${flag.name}`, hint }, ...short];
}

/** Hints by placeholder or field of a flag, or name of a positional. */
const HINTS: Readonly<Record<string, Hint>> = {
  path: 'file',
  folder: 'folder',
  dir: 'folder',
  image: 'file',
  images: 'file',
  reference_image: 'file',
  publisherId: 'live:publisher',
  nodeId: 'live:node',
  node_id: 'live:node',
  version: 'live:version',
  versionId: 'live:version',
  node_version: 'live:version',
  from: 'live:version',
  to: 'live:version',
  profile: 'live:profile',
  task_id: 'live:task',
};

/** Hints by field of the request, for values that depend on the rest of the command line. */
const LINE_HINTS: Readonly<Record<string, Hint>> = {
  duration: 'live:duration',
  resolution: 'live:resolution',
};

function chooseHint(input: Flag | Argument, command?: Command): Hint {
  const byLine = LINE_HINTS[input.target?.at(-1) ?? ''];
  if (byLine) return byLine;
  if ('choices' in input && input.choices) return toChoiceHint(input.choices);
  // The id of a new node or publisher is not one of the existing ids.
  if (command && /^(init|create)$/.test(command.words.at(-1) ?? '') && input.name === 'id') return 'text';
  const names = [input.target?.at(-1), 'value' in input ? input.value : undefined, input.name];
  return names.flatMap((name) => (name && HINTS[name]) || [])[0] ?? 'text';
}

function toChoiceHint(choices: readonly string[]): Hint {
  const unsafe = choices.find((text) => !/^[\w.+:-]+$/.test(text));
  if (unsafe !== undefined)
    throw new Error(`The choice '${unsafe}' needs quoting, which the scripts do not support.`);
  return `choice:${choices.join(',')}`;
}

function shortenText(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  // ASCII, because older shells do not read their scripts as UTF-8.
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
