import { findNearest } from '../../wire/nearest.js';
import type { Argument, ArgumentValues, Command, CommandTree, Flag, FlagValues } from '../command/command.js';
import { type FailureDetail, toInvalidFailure } from '../command/request.js';
import tree from '../views/commands.generated.json' with { type: 'json' };

/** A line as the command line that says the same. */
export interface Words {
  readonly command: Command;
  readonly args: ArgumentValues;
  readonly flags: FlagValues;
}

/** Of a command's flags, those that speak of a whole run. */
const ofTheRun = ['dry-run', 'no-wait', 'max-credits', 'yes'];

const ownKeys = ['command', 'id'];

/** Beyond this many letters nobody meant a name of ours. */
const longestKey = 100;

/** The commands that start tasks, by their words. */
const commands = new Map(
  (tree as CommandTree).commands
    .filter(({ module }) => module === 'generate')
    .map((command) => [command.words.join(' '), command]),
);

/**
 * Reads a line as its command would read its words.
 * @throws Failure with everything that is none of the command's
 */
export function parseRecord(record: Readonly<Record<string, unknown>>): Words {
  const command = commands.get(String(record.command ?? '').trim());
  if (!command) {
    throw toInvalidFailure([
      { path: 'command', message: `must be one of ${[...commands.keys()].join(', ')}` },
    ]);
  }
  const args: Record<string, string | string[]> = {};
  const flags: Record<string, string | boolean | string[]> = {};
  const problems: FailureDetail[] = [];
  for (const [key, value] of listLeaves(record, command)) {
    const place = findPlace(key, command);
    if (!place) {
      problems.push({ path: key, message: unknownKey(key, command) });
      continue;
    }
    const written = toTyped(value, place);
    if (written === undefined) problems.push({ path: key, message: `must be ${describeKind(place)}` });
    else if (isArgument(place)) args[place.name] = written as string | string[];
    else flags[place.name] = written;
  }
  if (problems.length > 0) throw toInvalidFailure(problems);
  return { command, args, flags };
}

/** The values of a line; of a nested object those inside, under dotted names. `null` is not given. */
function* listLeaves(
  record: Readonly<Record<string, unknown>>,
  command: Command,
  prefix = '',
): Generator<[key: string, value: unknown]> {
  for (const [name, value] of Object.entries(record)) {
    const key = prefix + name;
    if (value === null || ownKeys.includes(key)) continue;
    const isNested = typeof value === 'object' && !Array.isArray(value) && !findPlace(key, command);
    if (isNested) yield* listLeaves(value as Record<string, unknown>, command, `${key}.`);
    else yield [key, value];
  }
}

/** The argument or flag that a key names: as the command line writes it, or as the interface does. */
function findPlace(key: string, { arguments: positionals, flags }: Command): Argument | Flag | undefined {
  const inBody = `body.${key}`;
  const fits = ({ name, target }: Argument | Flag) => name === key || target?.join('.') === inBody;
  return positionals.find(fits) ?? flags.find((flag) => fits(flag) && !ofTheRun.includes(flag.name));
}

function unknownKey(key: string, { words, arguments: positionals, flags }: Command): string {
  const names = [...positionals, ...flags]
    .filter(({ name }) => !ofTheRun.includes(name))
    .map(({ name, target }) => target?.slice(1).join('.') || name);
  const meant = findNearest(key.slice(0, longestKey), [...ownKeys, ...names]);
  const suggestion = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `is no argument or flag of ${words.join(' ')} that a line may hold${suggestion}`;
}

function isArgument(place: Argument | Flag): place is Argument {
  return 'variadic' in place;
}

/** A value as it would be typed; the request's own check judges what it says. */
function toTyped(value: unknown, place: Argument | Flag): string | boolean | string[] | undefined {
  if (isSwitch(place)) return toBoolean(value);
  if (isList(place)) {
    const texts = [value].flat().map(toText);
    return texts.includes(undefined) ? undefined : (texts as string[]);
  }
  if (typeof value === 'object' && !isArgument(place) && place.value?.startsWith('json')) {
    return JSON.stringify(value);
  }
  return toText(value);
}

function isSwitch(place: Argument | Flag): boolean {
  return !isArgument(place) && place.value === undefined;
}

function isList(place: Argument | Flag): boolean {
  return isArgument(place) ? place.variadic : place.repeat === true;
}

function toBoolean(value: unknown): boolean | undefined {
  if (value === 'true' || value === 'false') return value === 'true';
  return typeof value === 'boolean' ? value : undefined;
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function describeKind(place: Argument | Flag): string {
  if (isSwitch(place)) return 'true or false';
  return isList(place) ? 'text, or a list of texts' : 'text or a number';
}
