import { sanitizeName } from '../../flows/save-file.js';
import type { Job } from '../../flows/tasks/start-task.js';
import { findNearest } from '../../wire/nearest.js';
import type { Argument, Command, Flag, FlagValues, ParsedCommand } from '../command/command.js';
import { toInvalidFailure } from '../command/request.js';
import { type PlanContext, planJobs } from '../generation/plan.js';
import { type FailureDetail, usage } from '../terminal/failure.js';
import { oneLine } from '../terminal/text.js';
import { BuiltTree } from '../views/tree.js';

export interface WrittenJob {
  readonly line: number;
  /** Identifies it in every run. */
  readonly key: string;
  readonly record: Readonly<Record<string, unknown>>;
  /** What messages call its keys. */
  readonly keyNoun?: 'column' | 'field';
  /** A digest of its request as it was written; only of a line with an id, which may change. */
  readonly digest?: string | undefined;
}

/**
 * Parses the command of a line. The flags of the batch are its defaults.
 * @throws Failure with all keys and values that the command does not take
 */
export function parseJob(batch: FlagValues, { line, key, record, keyNoun }: WrittenJob): ParsedCommand {
  const { command, args, flags } = parseRecord(record, keyNoun);
  const merged: FlagValues = { ...inheritFlags(batch, flags), ...flags };
  const named =
    typeof merged.output === 'string' && fillPlaceholders(merged.output, { line: String(line), id: key });
  return { command, args, flags: { ...merged, ...(named && { output: named }) } };
}

/** The flags of the batch; without those about saving if the results of the line are not saved. */
function inheritFlags(batch: FlagValues, own: FlagValues): FlagValues {
  if (batch.output !== undefined || own.output !== undefined) return batch;
  const { force, receipt, ...others } = batch;
  return others;
}

/** Fills in the placeholders that only a batch has: the line and id of the job. */
function fillPlaceholders(pattern: string, places: { readonly line: string; readonly id: string }): string {
  return pattern.replace(/\{(line|id)\}/g, (_, word: 'line' | 'id') => sanitizeName(places[word]));
}

/** @throws Failure with all problems of the job */
export async function planLine(line: ParsedCommand, context: PlanContext): Promise<Job> {
  const [job, ...more] = await planJobs(line, context);
  if (!job || more.length > 0) throw usage('A line is one job; write each image on its own line.');
  const isPiped = Object.values(job.images)
    .flat()
    .some(({ kind }) => kind === 'stdin');
  if (isPiped) throw usage('An image of a batch cannot come from standard input.');
  return job;
}

/** Flags that apply to the whole run, and not to one job. */
const RUN_FLAGS = ['dry-run', 'no-wait', 'max-credits', 'yes'];

const OWN_KEYS = ['command', 'id'];

/** More of a key or a command is not repeated. */
const MAX_KEY_CHARACTERS = 100;

let starting: ReadonlyMap<string, Command> | undefined;

/** The commands that start tasks, by their words. */
function listStarting(): ReadonlyMap<string, Command> {
  const { commands } = new BuiltTree().readWhole();
  const found = commands.filter(({ module }) => module === 'generate');
  const named = found.flatMap((command) => {
    const { words, aliases = [] } = command;
    const lasts = [words.at(-1) as string, ...aliases];
    return lasts.map((last) => [[...words.slice(0, -1), last].join(' '), command] as const);
  });
  return new Map(named);
}

/**
 * Parses a line as its command would parse its arguments and flags.
 * @throws Failure with all keys and values that the command does not take
 */
function parseRecord(record: WrittenJob['record'], keyNoun = 'field'): ParsedCommand {
  starting ??= listStarting();
  const given = String(record.command ?? '').trim();
  const command = starting.get(given);
  if (!command) {
    const names = [...starting.keys()].join(', ');
    const shown = cutKey(oneLine(given));
    const message = given ? `must be one of ${names}, not '${shown}'` : `is missing; it is one of ${names}`;
    throw toInvalidFailure([{ path: 'command', message }]);
  }
  const args: Record<string, string | string[]> = {};
  const flags: Record<string, string | boolean | string[]> = {};
  const problems: FailureDetail[] = [];
  const keys = new Map<Argument | Flag, string>();
  for (const [key, value] of gatherLists(listLeaves(record, command), command)) {
    const parameter = findParameter(key, command);
    if (!parameter) {
      const path = `the ${keyNoun} "${oneLine(cutKey(key))}"`;
      problems.push({ path, message: describeUnknownKey(key, command) });
      continue;
    }
    const before = keys.get(parameter);
    if (before !== undefined) {
      const message = before === key ? 'is given twice' : `sets the same value as ${before}`;
      problems.push({ path: key, message });
    }
    keys.set(parameter, key);
    const gap = Array.isArray(value) ? [...value].indexOf(undefined) : -1;
    if (gap >= 0) problems.push({ path: `${key}.${gap}`, message: 'is missing, but a later one is given' });
    const kind = getKind(parameter);
    const written = toTyped(value, kind);
    if (written === undefined) problems.push({ path: key, message: `must be ${KINDS[kind]}` });
    else if ('variadic' in parameter) args[parameter.name] = written as string | string[];
    else flags[parameter.name] = written;
  }
  if (problems.length > 0) throw toInvalidFailure(problems);
  return { command, args, flags };
}

type Leaf = [key: string, value: unknown];

/** The values of a line. Those of nested objects have dotted names. `null` means absent. */
function* listLeaves(
  record: Readonly<Record<string, unknown>>,
  command: Command,
  prefix = '',
): Generator<Leaf> {
  for (const [name, value] of Object.entries(record)) {
    const key = prefix + name;
    if (value === null || OWN_KEYS.includes(key)) continue;
    const isNested = typeof value === 'object' && !Array.isArray(value) && !findParameter(key, command);
    if (isNested) yield* listLeaves(value as Record<string, unknown>, command, `${key}.`);
    else yield [key, value];
  }
}

const LIST_ITEM = /^(.+)\.(\d{1,2})$/;

/** Gathers the values of `images.0` and `images.1` in a list, at their places. */
function gatherLists(leaves: Iterable<Leaf>, command: Command): Leaf[] {
  const gathered: Leaf[] = [];
  const lists = new Map<string, unknown[]>();
  for (const leaf of leaves) {
    const [, name = '', place] = LIST_ITEM.exec(leaf[0]) ?? [];
    const parameter = findParameter(name, command);
    if (!parameter || getKind(parameter) !== 'list') {
      gathered.push(leaf);
      continue;
    }
    const list = lists.get(name) ?? [];
    if (!lists.has(name)) gathered.push([name, list]);
    lists.set(name, list);
    list[Number(place)] = leaf[1];
  }
  return gathered;
}

/** Finds the argument or flag of a key, by its name on the command line or in the request. */
function findParameter(key: string, { arguments: positionals, flags }: Command): Argument | Flag | undefined {
  const inBody = `body.${key}`;
  const fits = ({ name, target }: Argument | Flag) => name === key || target?.join('.') === inBody;
  return positionals.find(fits) ?? flags.find((flag) => fits(flag) && !RUN_FLAGS.includes(flag.name));
}

function describeUnknownKey(key: string, { words, arguments: positionals, flags }: Command): string {
  const names = [...positionals, ...flags]
    .filter(({ name }) => !RUN_FLAGS.includes(name))
    .map(({ name, target }) => target?.slice(1).join('.') || name);
  const meant = findNearest(cutKey(key), [...OWN_KEYS, ...names]);
  const suggestion = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  const runFlag = RUN_FLAGS.includes(key) ? ' in a batch' : '';
  return `is not an option of ${words.join(' ')}${runFlag}${suggestion}`;
}

function cutKey(key: string): string {
  return key.length > MAX_KEY_CHARACTERS ? `${key.slice(0, MAX_KEY_CHARACTERS)}…` : key;
}

/** What values a parameter takes in a line, and how an error names them. */
const KINDS = {
  switch: 'true or false',
  list: 'text, or a list of texts',
  json: 'text or a number',
  text: 'text or a number',
} as const;

function getKind(parameter: Argument | Flag): keyof typeof KINDS {
  if ('variadic' in parameter) return parameter.variadic ? 'list' : 'text';
  if (parameter.value === undefined) return 'switch';
  if (parameter.repeat === true) return 'list';
  return parameter.value.startsWith('json') ? 'json' : 'text';
}

/** Converts a value to what would be typed; the check of the request validates it. */
function toTyped(value: unknown, kind: keyof typeof KINDS): string | boolean | string[] | undefined {
  if (kind === 'switch') {
    if (value === 'true' || value === 'false') return value === 'true';
    return typeof value === 'boolean' ? value : undefined;
  }
  if (kind === 'list') {
    const texts = [value].flat().map(toText);
    return texts.includes(undefined) ? undefined : (texts as string[]);
  }
  return kind === 'json' && typeof value === 'object' ? JSON.stringify(value) : toText(value);
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
