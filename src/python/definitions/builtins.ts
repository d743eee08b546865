import { compareValues } from './comparison.js';
import { hasMany, MAX_ITEMS } from './costs.js';
import { addAll, addRest } from './dicts.js';
import { listItems } from './items.js';
import { addPairs, paySorting } from './methods.js';
import { applyOperator, isDefinite } from './operators.js';
import { writePath } from './paths.js';
import { copyAttributes, getAttribute, getType, hasAttribute, isInstance, isSubclass } from './reflection.js';
import {
  type Arguments,
  createArguments,
  createDict,
  createList,
  createUnknown,
  findTruth,
  getNames,
  type Imitation,
  isKind,
  isMany,
  isObject,
  type Machine,
  toAttributeKey,
  type Value,
} from './values.js';

/** Names every Python module has without importing them. */
export const builtinNames = new Set(
  `abs all any bool bytes callable chr classmethod dict dir enumerate eval exec filter float format frozenset getattr
  hasattr hash hex id int isinstance issubclass iter len list map max min next object open ord pow print property range
  repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip __import__ __builtins__
  Exception BaseException ImportError ModuleNotFoundError AttributeError KeyError ValueError TypeError RuntimeError
  NotImplementedError OSError FileNotFoundError NotImplemented Ellipsis`.split(/\s+/),
);

function toText(value: Value | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return String(value);
  if (value === true) return 'True';
  if (value === false) return 'False';
  return value === null ? 'None' : undefined;
}

function createSequence(of: 'list' | 'tuple' | 'set'): Imitation {
  return ({ list: [from] }, machine) => {
    if (from === undefined) return createList([], of);
    const found = listItems(from, machine);
    const text = isObject(from) && 'text' in from ? from.text : 'items';
    if (!found) return createList([createUnknown(text, true)], of);
    if (of !== 'set') return createList(found, of);
    machine.spend(4 * found.length);
    return createList([...new Set(found)], of);
  };
}

function sortValues(values: Value[], given: Arguments, machine: Machine): Value | undefined {
  const key = given.named.get('key');
  machine.spend(4 * values.length);
  const keyed = values.map((value) => {
    const own = key ? machine.call(key, createArguments([value], given.text)) : value;
    return { value, key: isKind(own, 'path') ? writePath(own) : own };
  });
  const kinds = new Set(keyed.map((one) => typeof one.key));
  if (kinds.size > 1 || ![...kinds].every((kind) => ['string', 'bigint', 'number'].includes(kind)))
    return values.every(isDefinite) ? createList(values) : undefined;
  paySorting(
    keyed.map((one) => one.key),
    machine,
  );
  keyed.sort((a, b) =>
    compareValues('<', a.key, b.key, machine) ? -1 : compareValues('>', a.key, b.key, machine) ? 1 : 0,
  );
  if (findTruth(given.named.get('reverse') ?? false)) keyed.reverse();
  return createList(keyed.map((one) => one.value));
}

function toDict(given: Arguments, machine: Machine): Value | undefined {
  const result = createDict();
  const [from] = given.list;
  if (isObject(from)) {
    if (from.kind === 'dict') addAll(result, from, machine);
    else addPairs(result, from, given.text, machine);
  }
  machine.spend(4 * given.named.size);
  for (const [key, value] of given.named) result.entries.set(key, value);
  if (given.uncertain) addRest(result, createUnknown(given.text), createUnknown(given.text));
  return result;
}

function createRange({ list: bounds }: Arguments, machine: Machine): Value | undefined {
  const numbers = bounds.map((bound) => (typeof bound === 'bigint' ? Number(bound) : Number.NaN));
  const [start, end, step] =
    numbers.length === 1 ? [0, numbers[0], 1] : [numbers[0], numbers[1], numbers[2] ?? 1];
  if (start === undefined || end === undefined || !step) return undefined;
  const count = Math.max(0, Math.ceil((end - start) / step));
  if (!(count <= MAX_ITEMS)) return undefined;
  machine.spend(2 * count);
  return createList(Array.from({ length: count }, (_, index) => BigInt(start + index * step)));
}

function zipColumns({ list: given }: Arguments, machine: Machine): Value | undefined {
  const columns: Value[][] = [];
  for (const one of given) {
    const column = listItems(one, machine);
    if (!column || hasMany(column, machine)) return undefined;
    columns.push(column);
  }
  const length = columns.reduce((least, column) => Math.min(least, column.length), MAX_ITEMS);
  if (columns.length === 0) return createList([]);
  machine.spend(length * (8 + columns.length / 2));
  return createList(
    Array.from({ length }, (_, row) =>
      createList(
        columns.map((column) => column[row] ?? null),
        'tuple',
      ),
    ),
  );
}

function createExtreme(operator: '<' | '>'): Imitation {
  return ({ list: given, named }, machine) => {
    if (named.size > 0) return undefined;
    const values = given.length === 1 ? listItems(given[0], machine) : given;
    const [first, ...others] = values ?? [];
    return others.reduce<Value | undefined>((best, one) => {
      if (best === undefined) return undefined;
      const better = compareValues(operator, one, best, machine);
      return better === undefined ? undefined : better ? one : best;
    }, first);
  };
}

function createQuantifier(decisive: boolean): Imitation {
  return ({ list: [from] }, machine) => {
    const answers = listItems(from, machine)?.map((one) => (isMany(one) ? undefined : findTruth(one)));
    if (!answers) return undefined;
    if (answers.includes(decisive)) return decisive;
    return answers.includes(undefined) ? undefined : !decisive;
  };
}

export const builtins: Record<string, Imitation> = {
  list: createSequence('list'),
  tuple: createSequence('tuple'),
  set: createSequence('set'),
  frozenset: createSequence('set'),
  iter: createSequence('list'),
  dict: toDict,
  range: createRange,
  zip: zipColumns,
  getattr: getAttribute,
  type: getType,
  isinstance: isInstance,
  issubclass: isSubclass,
  min: createExtreme('<'),
  max: createExtreme('>'),
  any: createQuantifier(true),
  all: createQuantifier(false),
  hasattr: ({ list: [object, name] }, machine) =>
    object === undefined || typeof name !== 'string' ? undefined : hasAttribute(object, name, machine),
  setattr: ({ list: [object = null, name, value] }, machine) => {
    const names = getNames(object);
    if (names) machine.branches.touch(names);
    if (value !== undefined && typeof name === 'string') names?.set(toAttributeKey(object, name), value);
    return null;
  },
  callable: ({ list: [value] }) =>
    isObject(value) && ['class', 'function', 'method', 'native'].includes(value.kind) ? true : undefined,
  vars: ({ list: [object] }, machine) => copyAttributes(object, machine),
  dir: ({ list: [object] }, machine) => {
    const found = copyAttributes(object, machine);
    return found && createList([...found.entries.keys()]);
  },
  len: ({ list: [of] }, machine) => {
    if (typeof of === 'string') return BigInt(of.length);
    if (isKind(of, 'list')) return hasMany(of.items, machine) ? undefined : BigInt(of.items.length);
    const found = listItems(of, machine);
    return found && !found.some(isMany) ? BigInt(found.length) : undefined;
  },
  str: ({ list: [value] }) => {
    if (value === undefined) return '';
    return isKind(value, 'path') ? writePath(value) : toText(value);
  },
  int: ({ list: [value] }) => {
    if (typeof value === 'bigint') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return BigInt(Math.trunc(value));
    return typeof value === 'string' && /^[+-]?\d{1,400}$/.test(value) ? BigInt(value) : undefined;
  },
  float: ({ list: [value] }) => {
    if (typeof value === 'number') return value;
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'string' && /^[+-]?[\d.]{1,40}$/.test(value) ? Number(value) : undefined;
  },
  bool: ({ list: [value] }) => (value === undefined ? false : findTruth(value)),
  abs: ({ list: [value] }) => {
    if (typeof value === 'bigint') return value < 0n ? -value : value;
    return typeof value === 'number' ? Math.abs(value) : undefined;
  },
  pow: ({ list: [base, exponent] }, machine) =>
    base === undefined || exponent === undefined ? undefined : applyOperator('**', base, exponent, machine),
  enumerate: ({ list: [from, start] }, machine) => {
    const found = listItems(from, machine);
    const first = typeof start === 'bigint' ? start : 0n;
    machine.spend(8 * (found?.length ?? 0));
    return (
      found &&
      createList(
        found.map((one, index) => (isMany(one) ? one : createList([first + BigInt(index), one], 'tuple'))),
      )
    );
  },
  reversed: ({ list: [from] }, machine) => {
    const found = listItems(from, machine);
    return found && createList(found.reverse());
  },
  sorted: (given, machine) => {
    const found = listItems(given.list[0], machine);
    return found && sortValues(found, given, machine);
  },
  map: ({ list: [callee, from], text: whole }, machine) => {
    const found = listItems(from, machine);
    if (callee === undefined || !found) return undefined;
    return createList(
      found.map((one) => (isMany(one) ? one : machine.call(callee, createArguments([one], whole)))),
    );
  },
  filter: ({ list: [callee, from], text: whole }, machine) => {
    const found = listItems(from, machine);
    if (callee === undefined || !found) return undefined;
    const kept = found.filter(
      (one) =>
        findTruth(callee === null ? one : machine.call(callee, createArguments([one], whole))) !== false,
    );
    return createList(kept);
  },
  sum: ({ list: [from, start] }, machine) =>
    listItems(from, machine)?.reduce<Value | undefined>(
      (total, one) => (total === undefined ? undefined : applyOperator('+', total, one, machine)),
      start ?? 0n,
    ),
  __import__: ({ list: [name] }, machine) =>
    typeof name === 'string' ? machine.importModule(name, undefined) : undefined,
};
