import type { Argument, Command, CommandTree, Flag } from '../command/command.js';
import type { Kind } from './live.js';

/**
 * What a value may be: `choice:a,b`, `file`, `folder`, `live:<kind>` for what the service knows, or `text`, of which
 * nothing is known.
 */
export type Hint = 'text' | 'file' | 'folder' | `choice:${string}` | `live:${Kind}`;

export interface Offered {
  readonly name: string;
  /** One line about it. */
  readonly text: string;
}

/** What may follow after some words of a command line. All four scripts are made of this table alone. */
export interface Place {
  /** The words so far: `''`, `node`, `node get`. */
  readonly path: string;
  readonly commands: readonly Offered[];
  readonly flags: readonly Offered[];
  /** The flags that take a value, short names as well. */
  readonly values: readonly { readonly name: string; readonly hint: Hint }[];
  /** In order; the last one repeats where it ends in `...`. */
  readonly arguments: readonly (Hint | `${Hint}...`)[];
}

export function listPlaces(tree: CommandTree): Place[] {
  const shown = tree.commands.filter(({ hidden }) => !hidden);
  const paths = shown.flatMap(({ words }) => words.map((_, count) => words.slice(0, count).join(' ')));
  const all = new Set([...paths, ...shown.map(({ words }) => words.join(' '))]);
  return [...all].sort().map((path) => describePlace(tree, shown, path));
}

function describePlace(tree: CommandTree, shown: readonly Command[], path: string): Place {
  const command = shown.find(({ words }) => words.join(' ') === path);
  const flags = flagsAt(tree, command).filter(({ hidden }) => !hidden);
  return {
    path,
    commands: commandsAt(tree, shown, path),
    flags: [...flags.flatMap(toOffered), { name: '--help', text: 'Show help' }],
    values: flags.flatMap(listValues),
    arguments: (command?.arguments ?? []).map((argument) => {
      const hint = chooseHint(argument, command);
      return argument.variadic ? (`${hint}...` as const) : hint;
    }),
  };
}

function commandsAt(tree: CommandTree, shown: readonly Command[], path: string): Offered[] {
  const depth = path === '' ? 0 : path.split(' ').length;
  const below = shown.filter(({ words }) => words.length > depth && words.slice(0, depth).join(' ') === path);
  const names = new Set(below.map(({ words }) => words[depth] as string));
  return [...names].map((name) => {
    const full = path === '' ? name : `${path} ${name}`;
    const own = shown.find(({ words }) => words.join(' ') === full);
    return { name, text: firstLine(own?.summary ?? tree.groups[full] ?? '') };
  });
}

/** The flags a command takes; of a group all that its commands may take, because they may stand before the words. */
export function flagsAt(tree: CommandTree, command: Command | undefined): Flag[] {
  if (!command) return [...tree.globals];
  return [...command.flags, ...tree.globals.filter(({ only }) => !only || command.takes.includes(only))];
}

function toOffered({ name, description, negatable }: Flag): Offered[] {
  const text = firstLine(description);
  const flag = { name: `--${name}`, text };
  return negatable ? [flag, { name: `--no-${name}`, text: `Not: ${text}` }] : [flag];
}

function listValues(flag: Flag): Place['values'] {
  if (!flag.value) return [];
  const hint = chooseHint(flag);
  const short = flag.short ? [{ name: `-${flag.short}`, hint }] : [];
  return [{ name: `--${flag.name}`, hint }, ...short];
}

/** By the word a value goes by: a flag's placeholder or field, a positional's name. */
const hints: Readonly<Record<string, Hint>> = {
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

/** By the field of the request, where the rest of the line says which of its values are left. */
const hintsByLine: Readonly<Record<string, Hint>> = {
  duration: 'live:duration',
  resolution: 'live:resolution',
};

function chooseHint(place: Flag | Argument, command?: Command): Hint {
  const byLine = hintsByLine[place.target?.at(-1) ?? ''];
  if (byLine) return byLine;
  if ('choices' in place && place.choices) return toChoiceHint(place.choices);
  // A node or publisher about to be made is none of those that exist.
  if (command && /^(init|create)$/.test(command.words.at(-1) ?? '') && place.name === 'id') return 'text';
  const names = [place.target?.at(-1), 'value' in place ? place.value : undefined, place.name];
  return names.flatMap((name) => (name && hints[name]) || [])[0] ?? 'text';
}

function toChoiceHint(choices: readonly string[]): Hint {
  const odd = choices.find((text) => !/^[\w.+:-]+$/.test(text));
  if (odd !== undefined) throw new Error(`The choice '${odd}' needs quoting, which the scripts do not do.`);
  return `choice:${choices.join(',')}`;
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  // ASCII, because older shells read a file of their own as something else.
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
