import type { Problem } from '../contract/schema/schema-types.js';
import { InvalidRequestError } from './errors.js';

/** Values of a query string. A list is repeated, undefined is omitted. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;
type QueryValue = string | number | boolean;

/**
 * Parses a base address. Its path becomes a prefix of all paths.
 * @throws InvalidRequestError
 */
export function parseBaseUrl(text: string): URL {
  const wrong = (message: string) => new InvalidRequestError([{ path: ['baseUrl'], message }]);
  if (!URL.canParse(text)) throw wrong('must be a URL such as https://registry.example');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong('must start with http:// or https://');
  if (url.username || url.password) throw wrong('must not contain a user name or password');
  if (url.search || url.hash) throw wrong('must end with the path, without ? or #');
  return url;
}

/**
 * Replaces the names in braces by escaped values.
 * @throws InvalidRequestError
 */
export function fillPath(path: string, values: Readonly<Record<string, unknown>>): string {
  const problems = findPathProblems(path, values);
  if (problems.length > 0) throw new InvalidRequestError(problems);
  return path.replace(PATH_NAMES, (_, name: string) => encodeURIComponent(values[name] as string));
}

const PATH_NAMES = /\{(\w+)\}/g;

/** Lists the names in the braces of a path. */
export function listPathNames(path: string): string[] {
  return Array.from(path.matchAll(PATH_NAMES), ([, name]) => name as string);
}

export function findPathProblems(path: string, values: Readonly<Record<string, unknown>>): Problem[] {
  return listPathNames(path).flatMap((name) => {
    const message = findSegmentProblem(values[name]);
    return message ? [{ path: [name], message }] : [];
  });
}

function findSegmentProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return value === undefined ? 'is required' : 'must be a string';
  if (value === '') return 'must not be empty';
  // encodeURIComponent keeps dots, and a URL with such a segment would refer to another resource.
  if (value === '.' || value === '..') return `must not be '${value}'`;
  return value.isWellFormed() ? undefined : 'must be valid Unicode';
}

/** The URL of a path below the base address. */
export function buildUrl(base: URL, path: string, query: Query = {}): URL {
  const url = new URL(base);
  const [before, given] = splitOnce(path, '?');
  url.pathname = base.pathname.replace(/\/+$/, '') + before;
  const search = new URLSearchParams(given);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  }
  url.search = search.toString();
  return url;
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
