import { isRecord } from '../json.js';
import type { Outline } from '../schema/outline.js';
import type { Words } from './naming-map.js';

/** Whose names a value gets. `both`: each renamed field stands in both names, and values keep the contract's. */
export type Side = 'ours' | 'theirs' | 'both';

/** What a renaming depends on. */
export interface RenameContext {
  readonly words: {
    readonly fields: Words;
    readonly values: Readonly<Record<string, Words>>;
    /** Names of values that are keys. */
    readonly keys: Words;
    readonly valueKeyed: readonly string[];
    readonly opaque: readonly string[];
  };
  readonly to: Side;
  readonly shared: readonly Outline[];
  /** Filled into objects that declare the fields and lack them. */
  readonly alwaysSent: Readonly<Record<string, unknown>>;
}

/**
 * Renames what the outline declares in a value.
 * @param field the contract's name of the field that holds the value
 */
export function renameValue(outline: Outline, value: unknown, context: RenameContext, field = ''): unknown {
  const { words, shared } = context;
  if (words.opaque.includes(field)) return value;
  switch (outline.type) {
    case 'shared':
      return renameValue(shared[outline.index] as Outline, value, context, field);
    case 'undecided':
      return outline.shape ? renameValue(outline.shape, value, context, field) : value;
    case 'either':
      // Those of another kind than the value change nothing.
      return outline.of.reduce((renamed, one) => renameValue(one, renamed, context, field), value);
    case 'list':
      if (!Array.isArray(value)) return value;
      return value.map((item) => renameValue(outline.items, item, context, field));
    case 'map':
      return isRecord(value) ? renameMap(outline, value, context, field) : value;
    case 'object':
      return isRecord(value) ? renameFields(outline, value, context) : value;
    default: {
      if (typeof value !== 'string' || !Object.hasOwn(words.values, field)) return value;
      return lookUp(words.values[field] as Words, value, context.to);
    }
  }
}

function renameMap(
  { values }: Extract<Outline, { type: 'map' }>,
  value: Readonly<Record<string, unknown>>,
  context: RenameContext,
  field: string,
): unknown {
  const { words, to } = context;
  const rename = (key: string) => (words.valueKeyed.includes(field) ? lookUp(words.keys, key, to) : key);
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [rename(key), renameValue(values, entry, context)]),
  );
}

function renameFields(
  { fields }: Extract<Outline, { type: 'object' }>,
  value: Readonly<Record<string, unknown>>,
  context: RenameContext,
): unknown {
  const { words, to, alwaysSent } = context;
  const theirs = (name: string) =>
    Object.hasOwn(words.fields, name) ? (words.fields[name] as string) : name;
  const known = new Map<string, string>();
  for (const name of Object.keys(fields)) known.set(theirs(name), name).set(name, name);
  const renamed: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const ours = known.get(name);
    if (ours === undefined) {
      renamed.push([name, inner]);
      continue;
    }
    const entry = renameValue(fields[ours] as Outline, inner, context, ours);
    if (to !== 'theirs') renamed.push([ours, entry]);
    if (to !== 'ours' && (to === 'theirs' || theirs(ours) !== ours)) renamed.push([theirs(ours), entry]);
  }
  for (const [name, standard] of Object.entries(alwaysSent)) {
    if (Object.hasOwn(fields, name) && (value[name] ?? undefined) === undefined)
      renamed.push([theirs(name), standard]);
  }
  return Object.fromEntries(renamed);
}

/** Values are not doubled: with `both` they keep the contract's. */
function lookUp(words: Words, word: string, to: Side): string {
  if (to === 'ours') return Object.keys(words).find((ours) => words[ours] === word) ?? word;
  return to === 'theirs' && Object.hasOwn(words, word) ? (words[word] as string) : word;
}
