import { findEqual } from './comparison.js';
import { hasMany, MAX_ITEMS, MAX_TEXT, measureSize, paySearch } from './costs.js';
import { addAll, addRest, mergeDicts, touchDict } from './dicts.js';
import { listItems } from './items.js';
import { fillIn } from './operators.js';
import {
  createDict,
  createList,
  createUnknown,
  type DictValue,
  type Imitation,
  isAbsent,
  isKind,
  isMany,
  isObject,
  type ListValue,
  type Machine,
  type Value,
} from './values.js';

type Methods<Self> = Record<string, (self: Self, ...rest: Parameters<Imitation>) => Value | undefined>;

const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();

function trimText(
  self: string,
  characters: Value | undefined,
  side: 'both' | 'start' | 'end',
  machine: Machine,
): string | undefined {
  if (characters !== undefined && characters !== null && typeof characters !== 'string') return undefined;
  machine.spend((self.length + (characters?.length ?? 0)) >> 3);
  const dropped = characters ? new Set(characters) : undefined;
  const drop = (character: string | undefined) =>
    character !== undefined && (dropped ? dropped.has(character) : /\s/.test(character));
  let [start, end] = [0, self.length];
  if (side !== 'end') while (start < end && drop(self[start])) start++;
  if (side !== 'start') while (end > start && drop(self[end - 1])) end--;
  return self.slice(start, end);
}

function testPieces(
  argument: Value | undefined,
  machine: Machine,
  test: (piece: string) => boolean,
): boolean | undefined {
  const pieces = typeof argument === 'string' ? [argument] : (listItems(argument, machine) ?? []);
  if (pieces.length === 0 || !pieces.every((piece) => typeof piece === 'string')) return undefined;
  return pieces.some((piece) => {
    machine.spend(String(piece).length >> 6);
    return test(String(piece));
  });
}

/** Each is paid by the length of its text before it runs, and by that of its result. */
export const textMethods: Methods<string> = {
  lower: (self) => self.toLowerCase(),
  upper: (self) => self.toUpperCase(),
  capitalize: capitalize,
  title: (self) => self.replace(/[A-Za-z]+/g, capitalize),
  strip: (self, { list: [characters] }, machine) => trimText(self, characters, 'both', machine),
  lstrip: (self, { list: [characters] }, machine) => trimText(self, characters, 'start', machine),
  rstrip: (self, { list: [characters] }, machine) => trimText(self, characters, 'end', machine),
  startswith: (self, { list: [prefix] }, machine) =>
    testPieces(prefix, machine, (piece) => self.startsWith(piece)),
  endswith: (self, { list: [suffix] }, machine) =>
    testPieces(suffix, machine, (piece) => self.endsWith(piece)),
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
  replace: (self, { list: [from, to, count] }, machine) => {
    if (typeof from !== 'string' || typeof to !== 'string' || from === '') return undefined;
    paySearch(self, from, machine);
    if (count === 1n) return self.replace(from, () => to);
    // A count besides 1 is too rare to imitate; and the text must not grow without bound.
    if (count !== undefined || self.length * Math.max(1, to.length / from.length) > MAX_TEXT)
      return undefined;
    return self.replaceAll(from, () => to);
  },
  split: (self, { list: [separator, limit] }, machine) => {
    if (typeof separator === 'string') paySearch(self, separator, machine);
    if (limit === 1n && typeof separator === 'string' && separator !== '') {
      const at = self.indexOf(separator);
      return createList(at === -1 ? [self] : [self.slice(0, at), self.slice(at + separator.length)]);
    }
    if (limit !== undefined || self.length > MAX_ITEMS) return undefined;
    if (separator === undefined || separator === null) return createList(self.split(/\s+/).filter(Boolean));
    return typeof separator === 'string' && separator !== '' ? createList(self.split(separator)) : undefined;
  },
  splitlines: (self) => {
    if (self.length > MAX_ITEMS) return undefined;
    return createList(self === '' ? [] : self.replace(/\r?\n$/, '').split(/\r?\n/));
  },
  join: (self, { list: [pieces] }, machine) => {
    const found = listItems(pieces, machine);
    if (!found?.every((piece) => typeof piece === 'string')) return undefined;
    const size = found.reduce<number>((sum, piece) => sum + String(piece).length + self.length, 0);
    return size > MAX_TEXT ? undefined : found.join(self);
  },
  format: (self, { list: values, named, uncertain }, machine) => {
    if (uncertain) return undefined;
    let next = 0;
    return fillIn(self, /\{\{|\}\}|\{(\w*)\}|\{[^{}]*\}/g, machine, (name, whole) => {
      if (whole === '{{' || whole === '}}') return whole.charAt(0);
      if (whole !== `{${name}}`) return undefined;
      const value = named.get(name) ?? values[/^\d+$/.test(name) ? +name : next++];
      return typeof value === 'string' || typeof value === 'bigint' ? String(value) : undefined;
    });
  },
};

export const listMethods: Methods<ListValue> = {
  append: (self, { list: [value] }) => {
    if (value !== undefined && self.items.length < MAX_ITEMS) self.items.push(value);
    return null;
  },
  add: (self, { list: [value] }, machine) => {
    machine.spend(measureSize(self) >> 2);
    if (value !== undefined && self.items.length < MAX_ITEMS && findSame(self.items, value, machine) === -1)
      self.items.push(value);
    return null;
  },
  extend: (self, { list: [more], text }, machine) => {
    for (const one of listItems(more, machine) ?? [createUnknown(text, true)])
      if (self.items.length < MAX_ITEMS) self.items.push(one);
    return null;
  },
  insert: (self, { list: [at, value] }, machine) => {
    if (value === undefined || self.items.length >= MAX_ITEMS) return null;
    if (typeof at === 'bigint' && !hasMany(self.items, machine)) self.items.splice(Number(at), 0, value);
    else self.items.push(value);
    return null;
  },
  remove: (self, { list: [value] }, machine) => {
    const at = value === undefined ? -1 : findEqual(self.items, value, machine);
    if (at !== -1) self.items.splice(at, 1);
    return null;
  },
  pop: (self, { list: [at] }, machine) => {
    if ((at !== undefined && typeof at !== 'bigint') || hasMany(self.items, machine)) return undefined;
    return self.items.splice(at === undefined ? -1 : Number(at), 1)[0];
  },
  index: (self, { list: [value] }, machine) => {
    const at = value === undefined ? -1 : findEqual(self.items, value, machine);
    return at === -1 || hasMany(self.items, machine) ? undefined : BigInt(at);
  },
  copy: (self, _, machine) => {
    machine.spend(measureSize(self));
    return createList([...self.items], self.of);
  },
  reverse: (self, _, machine) => {
    machine.spend(measureSize(self));
    self.items.reverse();
    return null;
  },
  // Sorts texts only; anything else keeps its order, which is as good as an unknown one.
  sort: (self, given, machine) => {
    if (given.named.has('key')) return null;
    if (self.items.every((item) => typeof item === 'string')) {
      paySorting(self.items, machine);
      self.items.sort();
    }
    return null;
  },
};
listMethods.update = listMethods.extend as NonNullable<(typeof listMethods)['extend']>;
listMethods.union = (self, { list: [more], text }, machine) => {
  const found = listItems(more, machine) ?? [createUnknown(text, true)];
  machine.spend(4 * (self.items.length + found.length));
  return createList([...new Set([...self.items, ...found])], self.of);
};

/** Like `findEqual` for members of a set: what is not known to be equal is another. */
function findSame(items: readonly Value[], value: Value, machine: Machine): number {
  return typeof value === 'string' ? findEqual(items, value, machine) : items.indexOf(value);
}

/** Pays for sorting: each value is compared with a few others, text by text. */
export function paySorting(keys: readonly Value[], machine: Machine): void {
  const rounds = Math.log2(keys.length + 1);
  for (const key of keys) machine.spend(rounds * (0.5 + (typeof key === 'string' ? key.length >> 6 : 0)));
}

/** Adds the pairs that an iterable gives, as `dict(pairs)` and `update(pairs)` do. */
export function addPairs(target: DictValue, from: Value, text: string, machine: Machine): void {
  for (const pair of listItems(from, machine) ?? [createUnknown(text, true)]) {
    const two = isMany(pair) ? undefined : toPair(pair, machine);
    if (!two) addRest(target, createUnknown(text), pair);
    else if (isObject(two[0])) addRest(target, createUnknown(text), two[1]);
    else {
      machine.spend(4);
      target.entries.set(two[0], two[1]);
    }
  }
}

function toPair(pair: Value, machine: Machine): [Value, Value] | undefined {
  const [key, value] = isKind(pair, 'list') ? pair.items : (listItems(pair, machine) ?? []);
  return key === undefined || value === undefined ? undefined : [key, value];
}

function updateDict(self: DictValue, given: Parameters<Imitation>[0], machine: Machine): Value {
  const [more] = given.list;
  if (isKind(more, 'dict')) addAll(self, more, machine);
  else if (more !== undefined && !isAbsent(more)) {
    if (isKind(more, 'list')) addPairs(self, more, given.text, machine);
    else addRest(self, createUnknown(given.text), more);
  }
  machine.spend(4 * given.named.size);
  for (const [key, value] of given.named) self.entries.set(key, value);
  return null;
}

export const dictMethods: Methods<DictValue> = {
  update: updateDict,
  keys: (self, _, machine) => createList(listItems(self, machine) ?? [createUnknown('keys', true)]),
  values: (self, _, machine) => {
    machine.spend(measureSize(self) >> 2);
    return createList([...self.entries.values(), ...self.rest.map(() => createUnknown('values', true))]);
  },
  items: (self, _, machine) => {
    // Each pair is a list of its own.
    machine.spend(measureSize(self) * 2);
    return createList([
      ...[...self.entries].map(([key, value]) => createList([key, value], 'tuple')),
      ...self.rest.map(({ key, value }) => createList([key, value], 'tuple')),
    ]);
  },
  copy: (self, _, machine) => mergeDicts(createDict(), self, machine),
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

const CHANGING =
  /^(?:append|add|extend|insert|remove|discard|pop|popitem|reverse|sort|update|setdefault|clear|difference_update)$/;

/** The method of a text, list or dict, ready to be called. */
export function findMethod(object: Value, name: string): Imitation | undefined {
  const ofObject = isKind(object, 'list') ? listMethods : isKind(object, 'dict') ? dictMethods : {};
  const methods = (typeof object === 'string' ? textMethods : ofObject) as Methods<Value>;
  // `name` is the pack's word: `constructor` must not find JavaScript's own.
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  const cost = typeof object === 'string' ? object.length >> 5 : 0;
  return (
    method &&
    ((given, machine) => {
      machine.spend(cost);
      if (isKind(object, 'list') && CHANGING.test(name)) machine.branches.touch(object.items, object.serial);
      if (isKind(object, 'dict') && CHANGING.test(name)) touchDict(object, machine);
      return method(object, given, machine);
    })
  );
}
