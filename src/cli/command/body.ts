import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import type { System } from '../terminal/system.js';
import { type FlagValues, readText } from './command.js';

export interface BodyContext {
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
  return path === '-' ? readAll(stdin) : readFileSync(resolve(cwd, path), 'utf8');
}
