import { MAX_ITEMS, measureSize } from './costs.js';
import {
  createDict,
  createUnknown,
  type DictValue,
  isObject,
  type Machine,
  type UnknownValue,
  type Value,
} from './values.js';

/** Remembers an entry whose key is computed; of very many it is enough to know that there are more. */
export function addRest(target: DictValue, key: UnknownValue, value: Value): void {
  if (target.rest.length < MAX_ITEMS) target.rest.push({ key, value });
}

/** Must be called before a dict is changed that others may see. */
export function touchDict({ entries, rest }: DictValue, machine: Machine): void {
  machine.branches.touch(entries);
  machine.branches.touch(rest as unknown[]);
}

export function addAll(target: DictValue, from: DictValue, machine: Machine): void {
  machine.spend(measureSize(from));
  touchDict(target, machine);
  for (const [key, value] of from.entries) target.entries.set(key, value);
  // The length is read once, because a dict may be added to itself.
  for (let index = 0, { length } = from.rest; index < length; index++) {
    const one = from.rest[index];
    if (one) addRest(target, one.key, one.value);
  }
}

export function putEntry(target: DictValue, key: Value, value: Value, text: string, machine: Machine): void {
  machine.spend(3);
  touchDict(target, machine);
  if (!isObject(key)) target.entries.set(key, value);
  else addRest(target, createUnknown(key.kind === 'unknown' ? key.text : text), value);
}

export function mergeDicts(left: DictValue, right: DictValue, machine: Machine): DictValue {
  const result = createDict();
  addAll(result, left, machine);
  addAll(result, right, machine);
  return result;
}
