import { isRecord } from '../../contract/json.js';
import type { Problem } from '../../contract/schema/schema-types.js';

/**
 * Finds the line of a TOML file that sets what a problem is about.
 * @returns counted from 1; undefined if no line does
 */
export async function createLineFinder(text: string): Promise<(path: Problem['path']) => number | undefined> {
  const { parse } = await import('smol-toml');
  const read = (line: string) => {
    // A value may go on in the next lines.
    for (const part of [line, `${line.slice(0, line.indexOf('=') + 1)}0`]) {
      try {
        return parse(part);
      } catch {
        // Not a line of its own, such as one of a list.
      }
    }
    return {};
  };
  const found: { path: readonly string[]; line: number }[] = [];
  const counts = new Map<string, number>();
  let table: readonly string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const value = read(line.trim());
    if (line.trim().startsWith('[')) {
      const { keys, isList } = readTable(value);
      const count = counts.get(keys.join('.')) ?? 0;
      counts.set(keys.join('.'), count + 1);
      table = isList ? [...keys, String(count)] : keys;
      found.push({ path: table, line: index + 1 });
    } else {
      for (const keys of listKeys(value)) found.push({ path: [...table, ...keys], line: index + 1 });
    }
  }
  return (path) => {
    const leads = found.filter((one) => one.path.every((key, at) => key === String(path[at])));
    return leads.sort((one, other) => other.path.length - one.path.length)[0]?.line;
  };
}

/** The keys of `[a.b]` or `[[a.b]]`. */
function readTable(value: unknown): { keys: string[]; isList: boolean } {
  const keys: string[] = [];
  let current = value;
  while (isRecord(current) && Object.keys(current).length === 1) {
    const [[key, inner]] = Object.entries(current) as [[string, unknown]];
    keys.push(key);
    current = inner;
  }
  return { keys, isList: Array.isArray(current) };
}

/** The keys of one line, with those of the tables in its value. */
function listKeys(value: unknown): string[][] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [key],
    ...listKeys(inner).map((keys) => [key, ...keys]),
  ]);
}
