import { resolve } from 'node:path';
import { parseJson } from '../../contract/json.js';
import { parseText } from '../../contract/schema/parse-text.js';
import { completeStatus } from '../../contract/status-names.js';
import { readGivenFile } from '../../disk/folder-file.js';
import { usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import type { System } from '../terminal/system.js';
import {
  type Argument,
  type ArgumentValues,
  type Command,
  type Flag,
  type FlagValues,
  readText,
  type ValueType,
} from './command.js';

/** The parts of a request as they will be sent. */
export interface Request {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

/** Builds a request from arguments and flags. A value that cannot be converted stays text, and the schema rejects it. */
export function buildRequest(
  command: Command,
  args: ArgumentValues,
  flags: FlagValues,
  body?: unknown,
): Request {
  const request = { params: {}, query: {}, body: undefined as unknown };
  for (const [path, value] of Object.entries(command.fixed ?? {})) putValue(request, path.split('.'), value);
  const given = [
    ...command.arguments.map((argument) => ({ source: argument, value: args[argument.name] })),
    ...command.flags.map((flag) => ({ source: flag, value: flags[flag.name] })),
  ].filter(({ source, value }) => source.target && value !== undefined);
  const filled = new Map<string, Argument | Flag>();
  for (const { source, value } of given) {
    const target = source.target as readonly string[];
    const before = filled.get(target.join('.'));
    if (before)
      throw usage(
        `${formatName(before)} and ${formatName(source)} set the same value; use only one of them.`,
      );
    if (target[0] === 'body' && body !== undefined) {
      throw usage(
        `${formatName(source)} and --body cannot be used together.`,
        'Put the value in the body, or use only flags.',
      );
    }
    filled.set(target.join('.'), source);
    putValue(request, target, parseValue(source, value as string | boolean | readonly string[]));
  }
  const { implied } = command;
  if (implied && args[implied] !== undefined) putValue(request, ['params', implied], args[implied]);
  if (body !== undefined) request.body = body;
  return request;
}

function putValue(into: Record<string, unknown>, [key, ...rest]: readonly string[], value: unknown): void {
  if (key === undefined) return;
  if (rest.length === 0) into[key] = value;
  else {
    into[key] ??= {};
    putValue(into[key] as Record<string, unknown>, rest, value);
  }
}

function parseValue(source: Argument | Flag, value: string | boolean | readonly string[]): unknown {
  const { type, choices = [] } = source;
  if (typeof value === 'boolean' || !type) return value;
  // Decided: a date alone is the beginning of its day in UTC, as in ISO 8601.
  const isTime = 'value' in source && source.value === 'date-time';
  if (isTime && typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)) return `${value}T00:00:00Z`;
  const parse = (of: ValueType, text: string) => parseText(of, completeStatus(text, choices));
  if (typeof value !== 'string') {
    // No choice has a comma.
    const texts = choices.length > 0 ? value.flatMap((text) => text.split(',')) : value;
    return texts.map((text) => parse(type.items ?? type, text));
  }
  return type.type === 'object' ? parseJson(value, value) : parse(type, value);
}

export function formatName(source: Argument | Flag): string {
  return 'variadic' in source ? `<${source.name}>` : `--${source.name}`;
}

interface BodyContext {
  readonly flags: FlagValues;
  readonly system: Pick<System, 'stdin' | 'cwd'>;
}

/** Reads the JSON of `--body <json|@file|->`, if given. */
export async function readBodyFlag(context: BodyContext): Promise<unknown> {
  const text = await readBodyText(context);
  return text === undefined ? undefined : JSON.parse(text);
}

/**
 * Reads the text of `--body`, if given.
 * @param mustBeJson whether to accept only JSON
 */
export async function readBodyText(
  { flags, system }: BodyContext,
  mustBeJson = true,
): Promise<string | undefined> {
  const given = readText(flags, 'body');
  if (given === undefined) return undefined;
  const text =
    given.startsWith('@') || given === '-' ? await readInput(system, given.replace(/^@/, '')) : given;
  try {
    if (mustBeJson) JSON.parse(text);
    return text;
  } catch (error) {
    throw usage(
      `--body is not valid JSON: ${(error as Error).message}.`,
      'To read a file, pass --body @request.json.',
    );
  }
}

/** Reads a text file, relative to the working folder; `-` is standard input. */
export async function readInput({ stdin, cwd }: BodyContext['system'], path: string): Promise<string> {
  return path === '-' ? readAll(stdin) : (await readGivenFile(resolve(cwd, path))).toString();
}
