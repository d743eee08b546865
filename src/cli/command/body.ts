import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import type { Invocation } from './invocation.js';

/** The value of `--body <json|@file|->`, if it was given. */
export async function bodyFlag(invocation: Invocation): Promise<unknown> {
  const text = await givenBody(invocation);
  return text === undefined ? undefined : JSON.parse(text);
}

/**
 * The text of `--body`, if it was given.
 * @param mustBeJson whether anything but JSON is refused
 */
export async function givenBody(invocation: Invocation, mustBeJson = true): Promise<string | undefined> {
  const given = invocation.text('body');
  if (given === undefined) return undefined;
  const text = await bodyText(invocation, given);
  try {
    if (mustBeJson) JSON.parse(text);
    return text;
  } catch (error) {
    throw usage(
      `--body is not valid JSON: ${(error as Error).message}.`,
      'Give a file as --body @request.json.',
    );
  }
}

async function bodyText(invocation: Invocation, given: string): Promise<string> {
  if (given === '-') return readAll(invocation.system.stdin);
  return given.startsWith('@') ? fileText(invocation, given.slice(1)) : given;
}

/** The text of the file at a path relative to where the person stands; `-` is standard input. */
export async function fileText({ system }: Invocation, path: string): Promise<string> {
  return path === '-' ? readAll(system.stdin) : readFileSync(resolve(system.cwd, path), 'utf8');
}
