import type { Imitation } from './builtins.js';
import { iterate } from './iterate.js';
import { equal, MAX_ITEMS, MAX_TEXT, merged } from './operators.js';
import {
  type DictValue,
  dict,
  isAbsent,
  isMany,
  isObject,
  type ListValue,
  list,
  sizeOf,
  unknown,
  type Value,
} from './values.js';

type Methods<Self> = Record<string, (self: Self, ...rest: Parameters<Imitation>) => Value | undefined>;

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();

function trimmed(
  self: string,
  characters: Value | undefined,
  side: 'both' | 'start' | 'end',
): string | undefined {
  if (characters !== undefined && characters !== null && typeof characters !== 'string') return undefined;
  const drop = (character: string | undefined) =>
    character !== undefined && (characters ? characters.includes(character) : /\s/.test(character));
  let [start, end] = [0, self.length];
  if (side !== 'end') while (start < end && drop(self[start])) start++;
  if (side !== 'start') while (end > start && drop(self[end - 1])) end--;
  return self.slice(start, end);
}

function tests(argument: Value | undefined, test: (piece: string) => boolean): boolean | undefined {
  const pieces =
    argument === undefined ? [] : typeof argument === 'string' ? [argument] : (iterate(argument) ?? []);
  if (pieces.length === 0 || !pieces.every((piece) => typeof piece === 'string')) return undefined;
  return pieces.some((piece) => test(String(piece)));
}

export const textMethods: Methods<string> = {
  lower: (self) => self.toLowerCase(),
  upper: (self) => self.toUpperCase(),
  capitalize: capital,
  title: (self) => self.replace(/[A-Za-z]+/g, capital),
  strip: (self, { list: [characters] }) => trimmed(self, characters, 'both'),
  lstrip: (self, { list: [characters] }) => trimmed(self, characters, 'start'),
  rstrip: (self, { list: [characters] }) => trimmed(self, characters, 'end'),
  startswith: (self, { list: [prefix] }) => tests(prefix, (piece) => self.startsWith(piece)),
  endswith: (self, { list: [suffix] }) => tests(suffix, (piece) => self.endsWith(piece)),
  isupper: (self) => self !== self.toLowerCase() && self === self.toUpperCase(),
  islower: (self) => self !== self.toUpperCase() && self === self.toLowerCase(),
  isdigit: (self) => /^\d+$/.test(self),
  removeprefix: (self, { list: [prefix] }) =>
    typeof prefix === 'string' ? (self.startsWith(prefix) ? self.slice(prefix.length) : self) : undefined,
  removesuffix: (self, { list: [suffix] }) =>
    typeof suffix === 'string' && suffix !== ''
      ? self.endsWith(suffix)
        ? self.slice(0, -suffix.length)
        : self
      : undefined,
  replace: (self, { list: [from, to, count] }) => {
    if (typeof from !== 'string' || typeof to !== 'string' || from === '') return undefined;
    if (count === 1n) return self.replace(from, () => to);
    // A count besides 1 is too rare to imitate; and the text must not grow without bound.
    if (count !== undefined || self.length * Math.max(1, to.length / from.length) > MAX_TEXT)
      return undefined;
    return self.replaceAll(from, () => to);
  },
  split: (self, { list: [separator, limit] }) => {
    if (limit === 1n && typeof separator === 'string' && separator !== '') {
      const at = self.indexOf(separator);
      return list(at === -1 ? [self] : [self.slice(0, at), self.slice(at + separator.length)]);
    }
    if (limit !== undefined || self.length > MAX_ITEMS) return undefined;
    if (separator === undefined || separator === null) return list(self.split(/\s+/).filter(Boolean));
    return typeof separator === 'string' && separator !== '' ? list(self.split(separator)) : undefined;
  },
  splitlines: (self) => (self.length > MAX_ITEMS ? undefined : list(self.split(/\r?\n/))),
  join: (self, { list: [pieces] }) => {
    const found = pieces === undefined ? undefined : iterate(pieces);
    if (!found?.every((piece) => typeof piece === 'string')) return undefined;
    const size = found.reduce<number>((sum, piece) => sum + String(piece).length + self.length, 0);
    return size > MAX_TEXT ? undefined : found.join(self);
  },
  format: (self, { list: values, named, uncertain }) => {
    if (uncertain) return undefined;
    let [next, known] = [0, true];
    const text = self.replace(/\{\{|\}\}|\{(\w*)\}|\{[^}]*\}/g, (whole, name?: string) => {
      if (whole === '{{' || whole === '}}') return whole.charAt(0);
      const value =
        name === undefined ? undefined : (named.get(name) ?? values[/^\d+$/.test(name) ? +name : next++]);
      if (typeof value === 'string' || typeof value === 'bigint') return String(value);
      known = false;
      return '';
    });
    return known && text.length <= MAX_TEXT ? text : undefined;
  },
};

export const listMethods: Methods<ListValue> = {
  append: (self, { list: [value] }) => {
    if (value !== undefined && self.items.length < MAX_ITEMS) self.items.push(value);
    return null;
  },
  add: (self, { list: [value] }) => {
    if (value !== undefined && self.items.length < MAX_ITEMS && !self.items.includes(value))
      self.items.push(value);
    return null;
  },
  extend: (self, { list: [more], text }, machine) => {
    const found = more === undefined ? undefined : iterate(more);
    machine.spend(found?.length ?? 1);
    const room = MAX_ITEMS - self.items.length;
    self.items.push(...(found?.slice(0, room) ?? [unknown(text, true)]));
    return null;
  },
  insert: (self, { list: [at, value] }) => {
    if (value === undefined) return null;
    if (typeof at === 'bigint' && !self.items.some(isMany)) self.items.splice(Number(at), 0, value);
    else self.items.push(value);
    return null;
  },
  remove: (self, { list: [value] }) => {
    const at = self.items.findIndex((item) => value !== undefined && equal(item, value) === true);
    if (at !== -1) self.items.splice(at, 1);
    return null;
  },
  pop: (self, { list: [at] }) => {
    if (self.items.some(isMany) || (at !== undefined && typeof at !== 'bigint')) return undefined;
    return self.items.splice(at === undefined ? -1 : Number(at), 1)[0];
  },
  index: (self, { list: [value] }) => {
    const at = self.items.findIndex((item) => value !== undefined && equal(item, value) === true);
    return at === -1 || self.items.some(isMany) ? undefined : BigInt(at);
  },
  copy: (self) => list([...self.items], self.of),
  reverse: (self) => {
    self.items.reverse();
    return null;
  },
  // Sorting what can be sorted; else the order is what it was, which is no worse than unknown.
  sort: (self, given) => {
    if (given.named.has('key')) return null;
    if (self.items.every((item) => typeof item === 'string')) self.items.sort();
    return null;
  },
};
listMethods.update = listMethods.extend as NonNullable<(typeof listMethods)['extend']>;
listMethods.union = (self, { list: [more], text }) => {
  const found = more === undefined ? undefined : iterate(more);
  return list([...new Set([...self.items, ...(found ?? [unknown(text, true)])])], self.of);
};

function update(self: DictValue, given: Parameters<Imitation>[0], machine: Parameters<Imitation>[1]): Value {
  const [more] = given.list;
  const from = more !== undefined && isObject(more) ? more : undefined;
  if (from?.kind === 'dict') {
    machine.spend(sizeOf(from));
    for (const [key, value] of from.entries) self.entries.set(key, value);
    self.rest.push(...from.rest);
  } else if (more !== undefined && !isAbsent(more)) {
    const pairs = iterate(more);
    if (!pairs) self.rest.push({ key: unknown(given.text), value: more });
    for (const pair of pairs ?? []) {
      const [key, value] = (!isMany(pair) && iterate(pair)) || [];
      if (key === undefined || isObject(key) || value === undefined)
        self.rest.push({ key: unknown(given.text), value: value ?? pair });
      else self.entries.set(key, value);
    }
  }
  for (const [key, value] of given.named) self.entries.set(key, value);
  return null;
}

export const dictMethods: Methods<DictValue> = {
  update,
  keys: (self) => list(iterate(self) ?? []),
  values: (self) => list([...self.entries.values(), ...self.rest.map(() => unknown('values', true))]),
  items: (self) =>
    list([
      ...[...self.entries].map(([key, value]) => list([key, value], 'tuple')),
      ...self.rest.map(({ key, value }) => list([key, value], 'tuple')),
    ]),
  copy: (self) => merged(dict(), self),
  get: (self, { list: [key, otherwise] }) => {
    if (key === undefined || isObject(key)) return undefined;
    const found = self.entries.get(key);
    if (found !== undefined) return found;
    return self.rest.length > 0 ? undefined : (otherwise ?? null);
  },
  setdefault: (self, { list: [key, otherwise] }) => {
    if (key === undefined || isObject(key)) return undefined;
    const found = self.entries.get(key);
    if (found !== undefined) return found;
    self.entries.set(key, otherwise ?? null);
    return otherwise ?? null;
  },
  pop: (self, { list: [key, otherwise] }) => {
    if (key === undefined || isObject(key)) return undefined;
    const found = self.entries.get(key);
    self.entries.delete(key);
    return found === undefined ? otherwise : found;
  },
  clear: (self) => {
    self.entries.clear();
    self.rest.length = 0;
    return null;
  },
};

/** The method of a text, list or dict, ready to be called. */
export function methodOf(object: Value, name: string): Imitation | undefined {
  // `name` is the pack's word: `constructor` must not find JavaScript's own.
  if (typeof object === 'string') return own(textMethods, name, object);
  if (!isObject(object)) return undefined;
  if (object.kind === 'list') return own(listMethods, name, object);
  return object.kind === 'dict' ? own(dictMethods, name, object) : undefined;
}

function own<Self>(methods: Methods<Self>, name: string, self: Self): Imitation | undefined {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  return method && ((given, machine) => method(self, given, machine));
}
