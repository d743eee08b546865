import { usage } from '../terminal/failure.js';

/** One `key=value` as it was typed: the name before any bracket, the keys in brackets, `''` for `[]`, and the value. */
interface Field {
  readonly keys: readonly string[];
  readonly value: unknown;
}

/** Reads the text behind an `@`. */
export type ReadFile = (path: string) => Promise<string>;

/**
 * The object that fields describe: `a=1 b[c]=x d[]=1 d[]=2` is `{ a: 1, b: { c: 'x' }, d: [1, 2] }`.
 * @param typed from `-F`: numbers, true, false and null mean themselves, `@path` a file's text
 * @param raw from `-f`: always text
 */
export async function buildBody(
  typed: readonly string[],
  raw: readonly string[],
  read: ReadFile,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = Object.create(null);
  for (const { keys, value } of await fieldsOf(typed, raw, read)) put(body, keys, value);
  return body;
}

/** The same for a query string, where everything is text and a list is a repeated name. */
export async function buildQuery(
  typed: readonly string[],
  raw: readonly string[],
  read: ReadFile,
): Promise<Record<string, string[]>> {
  const query: Record<string, string[]> = Object.create(null);
  for (const { keys, value } of await fieldsOf(typed, raw, read)) {
    const [first = '', ...rest] = keys.at(-1) === '' ? keys.slice(0, -1) : keys;
    const name = first + rest.map((key) => `[${key}]`).join('');
    query[name] = [...(query[name] ?? []), String(value)];
  }
  return query;
}

async function fieldsOf(typed: readonly string[], raw: readonly string[], read: ReadFile): Promise<Field[]> {
  const fields: Field[] = [];
  for (const text of typed) {
    const { keys, written } = split(text);
    fields.push({
      keys,
      value: written.startsWith('@') ? await read(written.slice(1)) : typedValue(written),
    });
  }
  for (const text of raw) {
    const { keys, written } = split(text);
    fields.push({ keys, value: written });
  }
  for (const { keys } of fields) refuseSecret(keys, typed, raw);
  return fields;
}

function split(text: string): { keys: string[]; written: string } {
  const match = /^([^[\]=]+)((?:\[[^[\]]*\])*)=([\s\S]*)$/.exec(text);
  if (!match) throw usage(`'${text}' is no field.`, 'Write it as key=value, key[sub]=value or key[]=value.');
  const [, name = '', brackets = '', written = ''] = match;
  return { keys: [name, ...Array.from(brackets.matchAll(/\[([^\]]*)\]/g), ([, key = '']) => key)], written };
}

// Arguments are visible to every process of the machine.
function refuseSecret([name]: readonly string[], typed: readonly string[], raw: readonly string[]): void {
  if (name !== 'personal_access_token') return;
  const inFile = typed.some((text) => text.startsWith(`${name}=@`));
  if (inFile && !raw.some((text) => text.startsWith(`${name}=`))) return;
  throw usage(
    `The value of ${name} would be visible to everyone on this machine.`,
    `Read it from a file, or from standard input: -F ${name}=@-`,
  );
}

function typedValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  // A number only where it would be written the same again: ids such as 007 or 1e3 stay text.
  return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}

function put(into: Record<string, unknown>, [key = '', ...rest]: readonly string[], value: unknown): void {
  const [next] = rest;
  if (next === undefined) {
    if (key in into) throw usage(`${key} is given twice.`, `For a list, write ${key}[]=… each time.`);
    into[key] = value;
    return;
  }
  if (next === '') {
    if (rest.length > 1) throw usage(`${key}[] must end a field's name.`);
    into[key] ??= [];
    if (!Array.isArray(into[key])) throw mixed(key);
    into[key].push(value);
    return;
  }
  into[key] ??= Object.create(null);
  const inner = into[key];
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) throw mixed(key);
  put(inner as Record<string, unknown>, rest, value);
}

function mixed(key: string) {
  return usage(`${key} cannot be a value, a list and an object at once.`);
}
