import { type Arguments, dict, type FunctionValue, list, unknown, type Value } from './values.js';

/** Gives a function's parameters their values, as a call does. */
export function parameters(callee: FunctionValue, given: Arguments): Map<string, Value> {
  const names = new Map<string, Value>();
  const positional = [...given.list];
  const named = new Map(given.named);
  for (const [index, { name, spread }] of callee.parameters.entries()) {
    if (spread === '*') names.set(name, list(positional.splice(0), 'tuple'));
    else if (spread === '**') {
      const rest = dict(named);
      if (given.uncertain) rest.rest.push({ key: unknown(given.text), value: unknown(given.text) });
      names.set(name, rest);
    } else {
      const fallback = given.uncertain ? undefined : callee.defaults[index];
      const value = named.has(name) ? named.get(name) : positional.length > 0 ? positional.shift() : fallback;
      named.delete(name);
      names.set(name, value === undefined ? unknown(name) : value);
    }
  }
  return names;
}
