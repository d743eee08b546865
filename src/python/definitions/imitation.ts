import {
  type Arguments,
  createUnknown,
  type Imitation,
  type Machine,
  payFor,
  replaceMissing,
  type Value,
} from './values.js';

export function findImitation(table: Record<string, Imitation>, name: string): Imitation | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

export function createNative(method: Imitation, text: string): Value {
  return {
    kind: 'native',
    call: (given, machine) =>
      replaceMissing(callImitation(method, given, machine), createUnknown(given.text || text)),
  };
}

/** Calls what is imitated, paid by the length of its texts, and by what it makes. */
export function callImitation(imitation: Imitation, given: Arguments, machine: Machine): Value | undefined {
  for (const one of given.list) if (typeof one === 'string') machine.spend(one.length >> 5);
  return payFor(imitation(given, machine), machine);
}
