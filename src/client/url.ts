import type { Problem } from '../contract/problems.js';
import { InvalidRequestError } from './errors.js';

/** Values of a query string; a list is repeated, `undefined` is left out. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;
type QueryValue = string | number | boolean;

/** Reads a base address; a path in it is kept as a prefix of all paths. */
export function baseUrl(text: string): URL {
  const wrong = (message: string) => new InvalidRequestError([{ path: ['baseUrl'], message }]);
  if (!URL.canParse(text)) throw wrong('must be a URL such as https://registry.example');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong('must start with http:// or https://');
  if (url.username || url.password) throw wrong('must not hold a name or password');
  if (url.search || url.hash) throw wrong('must end with its path, without ? or #');
  return url;
}

/** Fills the names in braces. The one place where path segments are escaped. */
export function fillPath(path: string, values: Readonly<Record<string, unknown>>): string {
  const problems = pathProblems(path, values);
  if (problems.length > 0) throw new InvalidRequestError(problems);
  return path.replace(names, (_, name: string) => encodeURIComponent(values[name] as string));
}

const names = /\{(\w+)\}/g;

/** What of the values cannot stand in a path. */
export function pathProblems(path: string, values: Readonly<Record<string, unknown>>): Problem[] {
  return Array.from(path.matchAll(names), ([, name]) => name as string).flatMap((name) => {
    const message = segmentProblem(values[name]);
    return message ? [{ path: [name], message }] : [];
  });
}

function segmentProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return value === undefined ? 'is required' : 'must be a string';
  if (value === '') return 'must not be empty';
  // encodeURIComponent leaves dots alone, and a URL with such a segment would name another resource.
  if (value === '.' || value === '..') return `must not be '${value}'`;
  return value.isWellFormed() ? undefined : 'must be valid Unicode';
}

/** The address of a path below the base. */
export function address(base: URL, path: string, query: Query = {}): URL {
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

/** Whether a host name means this machine; such traffic never goes through a proxy. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.toLowerCase();
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  );
}
