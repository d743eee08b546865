import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from './failure.js';
import type { Invocation } from './invocation.js';
import { readAll } from './stdin.js';

/** The value of `--body <json|@file|->`, if it was given. */
export async function bodyFlag(invocation: Invocation): Promise<unknown> {
  const given = invocation.text('body');
  if (given === undefined) return undefined;
  const text = await bodyText(invocation, given);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(
      `--body is not valid JSON: ${(error as Error).message}.`,
      'Give a file as --body @request.json.',
    );
  }
}

async function bodyText({ system }: Invocation, given: string): Promise<string> {
  if (given === '-') return readAll(system.stdin);
  return given.startsWith('@') ? readFileSync(resolve(system.cwd, given.slice(1)), 'utf8') : given;
}
