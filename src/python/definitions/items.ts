import { hasMany, MAX_ITEMS, measureSize, payFor } from './costs.js';
import { createList, createUnknown, isKind, isObject, type Machine, type Value } from './values.js';

/** Characters of a text that a loop goes through. */
const MAX_CHARACTERS = 2000;

/**
 * The items a loop would see, paid by their number.
 * @returns undefined where they are too many, or not even their kind is known
 */
export function listItems(value: Value | undefined, machine: Machine): Value[] | undefined {
  if (typeof value === 'string') {
    if (value.length > MAX_CHARACTERS) return undefined;
    machine.spend(value.length);
    return [...value];
  }
  if (!isObject(value)) return undefined;
  if (value.kind === 'unknown' && value.options) {
    const all = value.options.flatMap((option) => listItems(option, machine) ?? []);
    return all.length < MAX_ITEMS
      ? [...all, { ...createUnknown(value.text, true), ...(value.at && { at: value.at }) }]
      : undefined;
  }
  if (value.kind === 'list') {
    if (value.items.length > MAX_ITEMS) return undefined;
    machine.spend(value.items.length);
    return [...value.items];
  }
  if (value.kind === 'dict') {
    machine.spend(measureSize(value) / 4);
    if (value.entries.size + value.rest.length > MAX_ITEMS) return undefined;
    return [...value.entries.keys(), ...value.rest.map(({ key }) => key)];
  }
  if (value.kind !== 'class') return undefined;
  // Iterating over an Enum gives its members.
  machine.spend(value.attributes.size);
  const members = [...value.attributes.values()].filter(
    (member) => isKind(member, 'instance') && member.class === value,
  );
  return members.length > 0 && members.length <= MAX_ITEMS ? members : undefined;
}

/** `object[key]`; undefined where it cannot be known. */
export function getItem(object: Value, key: Value, machine: Machine): Value | undefined {
  if (!isObject(object)) {
    if (typeof object !== 'string' || typeof key !== 'bigint') return undefined;
    return object.at(Number(key));
  }
  if (object.kind === 'dict') return isObject(key) ? undefined : object.entries.get(key);
  // An Enum's member by its name; a generic class such as Base[T] is the class itself.
  if (object.kind === 'class') return typeof key === 'string' ? object.attributes.get(key) : object;
  if (object.kind === 'external' && object.name === 'sys.modules' && typeof key === 'string')
    return machine.importModule(key, undefined);
  if (object.kind === 'external' && !object.called) return { ...object, of: object };
  if (object.kind !== 'list' || typeof key !== 'bigint' || hasMany(object.items, machine)) return undefined;
  return object.items.at(Number(key));
}

/** `object[from:to]`. */
export function getSlice(object: Value, from: Value, to: Value, machine: Machine): Value | undefined {
  const bound = (one: Value) =>
    typeof one === 'bigint' ? Number(one) : one === null ? undefined : Number.NaN;
  const [start, end] = [bound(from), bound(to)];
  if (Number.isNaN(start) || Number.isNaN(end)) return undefined;
  if (typeof object === 'string') return payFor(object.slice(start, end), machine);
  if (!isKind(object, 'list') || hasMany(object.items, machine)) return undefined;
  return payFor(createList(object.items.slice(start, end), object.of), machine);
}
