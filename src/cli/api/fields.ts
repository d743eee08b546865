import { usage } from '../terminal/failure.js';

/** A parsed `key=value`. The keys are the name and the texts in brackets, `''` for `[]`. */
interface Field {
  readonly keys: readonly string[];
  readonly value: unknown;
}

/** Builds the object that fields describe: `a=1 b[c]=x d[]=1 d[]=2` is `{ a: 1, b: { c: 'x' }, d: [1, 2] }`. */
export function buildBody(fields: readonly Field[]): Record<string, unknown> {
  const body: Record<string, unknown> = Object.create(null);
  for (const { keys, value } of fields) setField(body, keys, value);
  return body;
}

/** Builds a query string, in which all values are text and lists are repeated names. */
export function buildQuery(fields: readonly Field[]): Record<string, string[]> {
  const query: Record<string, string[]> = Object.create(null);
  for (const { keys, value } of fields) {
    const [first = '', ...rest] = keys.at(-1) === '' ? keys.slice(0, -1) : keys;
    const name = first + rest.map((key) => `[${key}]`).join('');
    query[name] = [...(query[name] ?? []), String(value)];
  }
  return query;
}

/**
 * Parses fields.
 * @param typed values of `-F`: numbers, true, false and null are converted, `@path` is the text of a file
 * @param raw values of `-f`: always text
 * @param read reads the file after an `@`
 */
export async function parseFields(
  typed: readonly string[],
  raw: readonly string[],
  read: (path: string) => Promise<string>,
): Promise<Field[]> {
  const fields: Field[] = [];
  for (const [at, text] of [...typed, ...raw].entries()) {
    const { keys, written } = parseField(text);
    const isTyped = at < typed.length;
    const isFile = isTyped && written.startsWith('@');
    // Arguments are visible to every process of the machine.
    if (keys[0] === 'personal_access_token' && !isFile) {
      throw usage(
        `The value of ${keys[0]} would be visible to other users of this machine.`,
        `Read it from a file (-F ${keys[0]}=@file) or from standard input (-F ${keys[0]}=@-).`,
      );
    }
    const value = isFile ? await read(written.slice(1)) : isTyped ? parseValue(written) : written;
    fields.push({ keys, value });
  }
  return fields;
}

function parseField(text: string): { keys: string[]; written: string } {
  const match = /^([^[\]=]+)((?:\[[^[\]]*\])*)=([\s\S]*)$/.exec(text);
  if (!match)
    throw usage(`Invalid field '${text}'.`, 'Write it as key=value, key[sub]=value or key[]=value.');
  const [, name = '', brackets = '', written = ''] = match;
  return { keys: [name, ...Array.from(brackets.matchAll(/\[([^\]]*)\]/g), ([, key = '']) => key)], written };
}

function parseValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  // Only numbers in canonical form are converted; ids such as 007 or 1e3 stay text.
  return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}

function setField(
  into: Record<string, unknown>,
  [key = '', next, ...rest]: readonly string[],
  value: unknown,
): void {
  if (next === undefined) {
    if (key in into) throw usage(`${key} is given twice.`, `For a list, write ${key}[]=<value> each time.`);
    into[key] = value;
    return;
  }
  into[key] ??= next === '' ? [] : Object.create(null);
  const inner = into[key];
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner) !== (next === ''))
    throw usage(`${key} cannot be a value, a list and an object at the same time.`);
  if (Array.isArray(inner)) addToList(inner, rest, value);
  else setField(inner as Record<string, unknown>, [next, ...rest], value);
}

/** `a[][b]=1 a[][c]=2 a[][b]=3` is `[{ b: 1, c: 2 }, { b: 3 }]`: a key that the last item has begins a new item. */
function addToList(list: unknown[], keys: readonly string[], value: unknown): void {
  const [key] = keys;
  if (key === undefined) {
    list.push(value);
    return;
  }
  const last = list.at(-1) as Record<string, unknown> | undefined;
  const isOpen = typeof last === 'object' && last !== null && !hasValue(last, keys);
  const item = isOpen ? last : Object.create(null);
  if (!isOpen) list.push(item);
  setField(item, keys, value);
}

/** Whether the field is set already; a list takes more values. */
function hasValue(item: Record<string, unknown>, [key = '', ...rest]: readonly string[]): boolean {
  if (!(key in item)) return false;
  const inner = item[key];
  return typeof inner !== 'object' || inner === null || Array.isArray(inner)
    ? rest[0] !== ''
    : hasValue(inner as Record<string, unknown>, rest);
}
