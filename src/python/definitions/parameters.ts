import { NAMES_STEPS } from './names.js';
import {
  type Arguments,
  addRest,
  createDict,
  createList,
  createUnknown,
  type FunctionValue,
  type Machine,
  type Value,
} from './values.js';

/** Gives a function's parameters their values, as a call does. */
export function bindParameters(
  callee: FunctionValue,
  given: Arguments,
  machine: Machine,
): Map<string, Value> {
  machine.spend(NAMES_STEPS + callee.parameters.length * 4 + given.list.length / 2 + given.named.size * 8);
  const names = new Map<string, Value>();
  let next = 0;
  const named = new Map(given.named);
  for (const [index, { name, spread }] of callee.parameters.entries()) {
    if (spread === '*') {
      names.set(name, createList(given.list.slice(next), 'tuple'));
      next = given.list.length;
    } else if (spread === '**') {
      const rest = createDict(named);
      if (given.uncertain) addRest(rest, createUnknown(given.text), createUnknown(given.text));
      names.set(name, rest);
    } else {
      const fallback = given.uncertain ? undefined : callee.defaults[index];
      const value = named.has(name)
        ? named.get(name)
        : next < given.list.length
          ? given.list[next++]
          : fallback;
      named.delete(name);
      names.set(name, value === undefined ? createUnknown(name) : value);
    }
  }
  return names;
}
