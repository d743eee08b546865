import { usage } from '../terminal/failure.js';

/** A parsed `key=value`. The keys are the name and the texts in brackets, `''` for `[]`. */
interface Field {
  readonly keys: readonly string[];
  readonly value: unknown;
}

/** Reads the file after an `@`. */
export type ReadFile = (path: string) => Promise<string>;

/**
 * Builds the object that fields describe: `a=1 b[c]=x d[]=1 d[]=2` is `{ a: 1, b: { c: 'x' }, d: [1, 2] }`.
 * @param typed values of `-F`: numbers, true, false and null are converted, `@path` is the text of a file
 * @param raw values of `-f`: always text
 */
export async function buildBody(
  typed: readonly string[],
  raw: readonly string[],
  read: ReadFile,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = Object.create(null);
  for (const { keys, value } of await parseFields(typed, raw, read)) setField(body, keys, value);
  return body;
}

/** Builds a query string, in which all values are text and lists are repeated names. */
export async function buildQuery(
  typed: readonly string[],
  raw: readonly string[],
  read: ReadFile,
): Promise<Record<string, string[]>> {
  const query: Record<string, string[]> = Object.create(null);
  for (const { keys, value } of await parseFields(typed, raw, read)) {
    const [first = '', ...rest] = keys.at(-1) === '' ? keys.slice(0, -1) : keys;
    const name = first + rest.map((key) => `[${key}]`).join('');
    query[name] = [...(query[name] ?? []), String(value)];
  }
  return query;
}

async function parseFields(
  typed: readonly string[],
  raw: readonly string[],
  read: ReadFile,
): Promise<Field[]> {
  const fields: Field[] = [];
  for (const [at, text] of [...typed, ...raw].entries()) {
    const { keys, written } = parseField(text);
    const isFile = at < typed.length && written.startsWith('@');
    const value = isFile ? await read(written.slice(1)) : at < typed.length ? parseValue(written) : written;
    fields.push({ keys, value });
  }
  for (const { keys } of fields) refuseSecret(keys, typed, raw);
  return fields;
}

function parseField(text: string): { keys: string[]; written: string } {
  const match = /^([^[\]=]+)((?:\[[^[\]]*\])*)=([\s\S]*)$/.exec(text);
  if (!match)
    throw usage(`Invalid field '${text}'.`, 'Write it as key=value, key[sub]=value or key[]=value.');
  const [, name = '', brackets = '', written = ''] = match;
  return { keys: [name, ...Array.from(brackets.matchAll(/\[([^\]]*)\]/g), ([, key = '']) => key)], written };
}

// Arguments are visible to every process of the machine.
function refuseSecret([name]: readonly string[], typed: readonly string[], raw: readonly string[]): void {
  if (name !== 'personal_access_token') return;
  const inFile = typed.some((text) => text.startsWith(`${name}=@`));
  if (inFile && !raw.some((text) => text.startsWith(`${name}=`))) return;
  throw usage(
    `The value of ${name} would be visible to other users of this machine.`,
    `Read it from a file (-F ${name}=@file) or from standard input (-F ${name}=@-).`,
  );
}

function parseValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  // Only numbers in canonical form are converted; ids such as 007 or 1e3 stay text.
  return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}

function setField(
  into: Record<string, unknown>,
  [key = '', ...rest]: readonly string[],
  value: unknown,
): void {
  const [next] = rest;
  if (next === undefined) {
    if (key in into) throw usage(`${key} is given twice.`, `For a list, write ${key}[]=<value> each time.`);
    into[key] = value;
    return;
  }
  if (next === '') {
    into[key] ??= [];
    const list = into[key];
    if (!Array.isArray(list)) throw toMixedFailure(key);
    addToList(list, rest.slice(1), value);
    return;
  }
  into[key] ??= Object.create(null);
  const inner = into[key];
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) throw toMixedFailure(key);
  setField(inner as Record<string, unknown>, rest, value);
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

function toMixedFailure(key: string) {
  return usage(`${key} cannot be a value, a list and an object at the same time.`);
}
