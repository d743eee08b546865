import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Naming } from '../../contract/naming/naming.js';
import { shortenStatus } from '../../contract/status-names.js';
import type { Argument, Command, Flag, Mode } from '../command/command.js';
import { toKebabCase } from '../command/flags.js';
import { listSubcommands } from '../command/help.js';
import { findFolders } from '../connect/folders.js';
import type { System } from '../terminal/system.js';
import { BuiltTree } from '../views/tree.js';
import { type Line, listFlags, parseLine } from './line.js';
import type { Asked, LiveKind } from './live.js';
import { isSafeValue } from './safe-value.js';

/**
 * Answers `regen __complete --current=<word> -- <words before it>`, which the scripts in completions/ run: one candidate
 * per line, with a tab before its description. The line `:file` or `:folder` stands for paths, which the shell completes
 * itself. Errors are ignored, because a shell would print them in the middle of the command line.
 */
export async function answerCompletion(argv: readonly string[], system: System): Promise<string> {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const own = argv.slice(0, end);
  const current = own.find((word) => word.startsWith(CURRENT))?.slice(CURRENT.length) ?? '';
  try {
    const typed = argv.slice(end + 1);
    // For bash, the @ of @last is a word of its own.
    const isAfterAt = typed.at(-1) === '@';
    const words = isAfterAt ? typed.slice(0, -1) : typed;
    const built = new BuiltTree();
    const isHelp = words[0] === 'help';
    const line = parseLine(built, isHelp ? words.slice(1) : words, isAfterAt ? `@${current}` : current);
    if (isHelp)
      return formatLines([...listCommandNames(line), ...(words.length === 1 ? listTopics(line) : [])]);
    const candidates = await listCandidates(line, {
      system,
      argv,
      inBackground: own.includes('--background'),
    });
    if (isAfterAt) return formatLines(candidates.flatMap((one) => (one.startsWith('@') ? one.slice(1) : [])));
    return formatLines(candidates);
  } catch {
    return '';
  }
}

function formatLines(candidates: readonly string[]): string {
  return candidates.map((candidate) => `${candidate}\n`).join('');
}

function listTopics({ tree: { topics } }: Line): string[] {
  return Object.entries(topics).map(([name, summary]) => formatSuggestion(name, summary));
}

const CURRENT = '--current=';

async function listCandidates(line: Line, asked: Asked): Promise<readonly string[]> {
  const { flag, typed, current, prefix } = line;
  if (flag) {
    const values = await listValues(line, flag, asked);
    return values.map((value) => (value.startsWith(':') ? value : `${prefix}${value}`));
  }
  if (current.startsWith('-')) return listFlagNames(line, await findNaming(line, asked));
  const names = typed.length > 0 ? [] : listCommandNames(line);
  const expected = findArgument(line);
  return expected ? [...names, ...(await listValues(line, expected, asked))] : names;
}

function listCommandNames({ tree, path }: Line): string[] {
  return listSubcommands(tree, path.join(' ')).map(({ name, summary }) => formatSuggestion(name, summary));
}

function listFlagNames({ tree, command }: Line, naming: Naming | undefined): string[] {
  const flags = listFlags(tree, command);
  const rename = ({ name, target }: Flag) => {
    const theirs = toKebabCase(naming?.translateField(target?.at(-1) ?? '') ?? '');
    return flags.find((flag) => flag.hidden && flag.name === theirs)?.name ?? name;
  };
  const shown = flags.filter(({ hidden }) => !hidden);
  const names = shown.flatMap((flag) => [
    formatSuggestion(`--${rename(flag)}`, flag.description),
    ...(flag.negatable ? [formatSuggestion(`--no-${flag.name}`, `Turn off --${flag.name}`)] : []),
  ]);
  return [...names, formatSuggestion('--help', 'Show this help')];
}

const MAX_DESCRIPTION = 80;

function formatSuggestion(name: string, text: string): string {
  const line = (text.split('\n', 1)[0] as string).replace(/\p{C}/gu, ' ');
  return `${name}\t${line.length > MAX_DESCRIPTION ? `${line.slice(0, MAX_DESCRIPTION - 1)}…` : line}`;
}

/** Finds the positional that the current word is for; the last one may be a list. */
function findArgument({ command, typed }: Line): Argument | undefined {
  const expected = command?.arguments ?? [];
  const last = expected.at(-1);
  return expected[typed.length] ?? (last?.variadic ? last : undefined);
}

async function listValues(line: Line, input: Flag | Argument, asked: Asked): Promise<readonly string[]> {
  const hint = chooseHint(input, line.command);
  if (hint === 'file' || hint === 'folder') return [`:${hint}`];
  if (hint === undefined || hint === 'duration' || hint === 'resolution') {
    const naming = await findNaming(line, asked);
    if (hint === undefined) return listChoices(input, naming);
    const named = useContractModel(line, naming);
    return hint === 'duration' ? listDurations(named) : listResolutions(named);
  }
  const { readLiveValues } = await import('./live.js');
  const [nodeId = '', range] = line.current.split('@');
  if (input.name !== 'nodes' || range === undefined) return readLiveValues(hint, line, asked);
  const versions = await readLiveValues('version', { ...line, args: { nodeId } }, asked);
  return versions.map((version) => `${nodeId}@${version}`);
}

/** Finds the names of the service that the command would use; undefined if they are those of the contract. */
async function findNaming({ flags }: Line, { system }: Asked): Promise<Naming | undefined> {
  if (!mayHaveNaming(system)) return undefined;
  const { chooseTarget, Settings } = await import('../connect/settings.js');
  const { readNames } = await import('../connect/clients.js');
  const settings = new Settings(system, () => {});
  try {
    const target = chooseTarget(flags, system.env, settings);
    return (await readNames(system.cwd, settings, target)).naming;
  } catch {
    return undefined;
  }
}

/** Reading settings loads many files, and most people have no profile with a naming. */
function mayHaveNaming(system: System): boolean {
  try {
    return readFileSync(join(findFolders(system).config, 'config.json'), 'utf8').includes('.naming"');
  } catch {
    return false;
  }
}

function listChoices(input: Flag | Argument, naming: Naming | undefined): readonly string[] {
  const choices = ('choices' in input && input.choices) || [];
  const names = choices.map((choice) => {
    const short = shortenStatus(choice);
    return short ?? naming?.renameWord(input.target?.at(-1) ?? '', choice, 'theirs') ?? choice;
  });
  return names.filter((name) => choices.includes(name) || isSafeValue(name));
}

function useContractModel(line: Line, naming: Naming | undefined): Line {
  const { model } = line.flags;
  if (!naming || model === undefined) return line;
  return { ...line, flags: { ...line.flags, model: naming.renameWord('model', model, 'ours') } };
}

/** Lists the durations that the model on the line can generate, in the resolution on the line. */
function listDurations(line: Line): string[] {
  const { resolution } = line.flags;
  const modes = selectModes(line, ({ resolutions }) => !resolution || resolutions.includes(resolution));
  const seconds = modes.flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index),
  );
  return seconds.map(String);
}

/** Lists the resolutions that the model on the line can generate, for the duration on the line. */
function listResolutions(line: Line): string[] {
  const { duration } = line.flags;
  const seconds = Number(duration);
  const modes = selectModes(line, ({ from, to }) => !duration || (seconds >= from && seconds <= to));
  const known = line.command?.flags.find(({ name }) => name === 'resolution')?.choices ?? [];
  return known.filter((one) => modes.some(({ resolutions }) => resolutions.includes(one)));
}

/** If nothing matches, all modes are offered, because the command explains the mistake better. */
function selectModes({ command, flags }: Line, fits: (mode: Mode) => boolean): readonly Mode[] {
  const { standard = '', modes: all = {} } = command?.models ?? {};
  const modes = all[flags.model ?? standard] ?? [];
  const found = modes.filter(fits);
  return found.length > 0 ? found : modes;
}

/** Where the values of a flag or positional come from. */
type Hint = 'file' | 'folder' | 'duration' | 'resolution' | LiveKind;

/** Hints by field or placeholder of a flag, or name of a positional. */
const HINTS: Readonly<Record<string, Hint>> = {
  path: 'file',
  folder: 'folder',
  dir: 'folder',
  image: 'file',
  images: 'file',
  reference_image: 'file',
  publisherId: 'publisher',
  nodeId: 'node',
  node_id: 'node',
  nodes: 'node',
  version: 'version',
  versionId: 'version',
  node_version: 'version',
  from: 'version',
  to: 'version',
  profile: 'profile',
  task_id: 'task',
  key: 'setting',
  deliveryId: 'delivery',
};

/** Chooses where the values of an input come from; undefined if it has no completion, or choices of its own. */
function chooseHint(input: Flag | Argument, command: Command | undefined): Hint | undefined {
  const field = input.target?.at(-1);
  if (command?.models && (field === 'duration' || field === 'resolution')) return field;
  if ('choices' in input && input.choices) return undefined;
  // The id of a new node or publisher is not one of the existing ids.
  if (/^(init|create)$/.test(command?.words.at(-1) ?? '') && input.name === 'id') return undefined;
  const names = [field, 'value' in input ? input.value : undefined, input.name];
  return names.flatMap((name) => (name && HINTS[name]) || [])[0];
}
