import type { z } from 'zod';
import { check, type Problem } from '../../contract/problems.js';
import { type Leaf, leaves, valueFromTexts } from '../../contract/text.js';
import { Refused } from '../refused.js';
import { mostValues, tooMany } from './crowd.js';

/** An answer names at most so many problems, and no text of a request comes back at length. */
const mostProblems = 100;
const mostCharacters = 300;

/**
 * @param root the path of a problem with the value itself
 * @param service the service's address, for rules that depend on it
 * @throws Refused invalid_request naming every problem
 */
export function requireValid<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  root: string,
  service?: string,
): z.output<Schema> {
  const checked = check(schema, value, { service });
  if (checked.ok) return checked.value;
  throw invalid(checked.problems, root);
}

/** The values of a query string, as far as the schema knows their names. */
export function queryReader<Schema extends z.ZodObject>(
  schema: Schema,
): (query: unknown) => z.output<Schema> {
  const known: [string, Leaf][] = Object.entries(leaves(schema));
  return (query) => {
    const texts = query as Record<string, string | string[] | undefined>;
    const given = known.filter(([name]) => texts[name] !== undefined);
    const values = given.map(([name, leaf]) => [name, valueFromTexts(leaf, [texts[name] as string].flat())]);
    return requireValid(schema, Object.fromEntries(values), 'query');
  };
}

/** @throws Refused invalid_request where percent-encoding is broken, or a text holds what cannot be stored */
export function requireCleanUrl(url: string, params: unknown, query: unknown): void {
  const mark = url.indexOf('?');
  if (mark >= 0) {
    try {
      decodeURIComponent(url.slice(mark + 1));
    } catch {
      throw new Refused('invalid_request', 'The query string holds broken percent-encoding.');
    }
  }
  requireCleanText(params);
  requireCleanText(query);
}

/**
 * Refuses texts, names of fields too, that cannot be stored and given back: NUL cuts them, half a surrogate pair is
 * replaced. Without recursion, because the nesting is the sender's choice.
 * @throws Refused invalid_request naming the fields; too_large where there are too many values
 */
export function requireCleanText(value: unknown): void {
  const problems: Problem[] = [];
  const open: { value: unknown; place: Place }[] = [{ value, place: { key: '' } }];
  let values = 0;
  for (let next = open.pop(); next && problems.length < mostProblems; next = open.pop()) {
    const { value: current, place } = next;
    if (typeof current === 'string' && !isClean(current)) {
      problems.push({ path: pathOf(place), message: unclean });
    }
    if (typeof current !== 'object' || current === null) continue;
    values += Array.isArray(current) ? current.length : Object.keys(current).length;
    if (values > mostValues) throw tooMany();
    for (const [key, inner] of Object.entries(current)) {
      const at: Place = { key, parent: place };
      if (!isClean(key) || key === '__proto__') {
        problems.push({ path: pathOf(at), message: 'is not a name of a field' });
      }
      open.push({ value: inner, place: at });
    }
  }
  if (problems.length > 0) throw invalid(problems, 'body');
}

const unclean = 'must not hold NUL characters or halves of surrogate pairs';

interface Place {
  readonly key: string;
  readonly parent?: Place;
}

function pathOf(place: Place): string[] {
  const path: string[] = [];
  for (let at: Place = place; at.parent && path.length < 100; at = at.parent) path.unshift(at.key);
  return path;
}

function isClean(text: string): boolean {
  // Two steps, because both forms of the question in one expression are slow on long texts.
  return !text.includes('\0') && text.isWellFormed();
}

function invalid(problems: readonly Problem[], root: string): Refused {
  const details = problems.slice(0, mostProblems).map(({ path, message }) => ({
    path: shortened(path.length === 0 ? root : path.join('.')),
    message: shortened(message),
  }));
  const named = details.slice(0, 3).map(({ path, message }) => `${path} ${message}`);
  const more = problems.length - named.length;
  return new Refused(
    'invalid_request',
    `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`,
    details,
  );
}

function shortened(text: string): string {
  const clean = text.replaceAll('\0', '\\0').toWellFormed();
  return clean.length <= mostCharacters ? clean : `${clean.slice(0, mostCharacters).toWellFormed()}…`;
}
