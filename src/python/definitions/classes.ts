import { findAttribute, listAncestry } from './ancestry.js';
import {
  type ClassValue,
  createArguments,
  createDict,
  createList,
  type InstanceValue,
  isKind,
  type Machine,
  type Value,
} from './values.js';

/* What happens besides its own body when a class is made. */

/** Calls the hooks of bases and metaclasses, by which packs register each class that is made of them. */
export function tellBases(made: ClassValue, options: Map<string, Value>, machine: Machine): void {
  const [, ...line] = listAncestry(made).filter((one) => one.kind === 'class');
  for (const base of made.bases) if (isKind(base, 'class')) base.heirs.push(made);
  made.metaclass = options.get('metaclass') ?? line.find((one) => one.metaclass !== undefined)?.metaclass;
  const { metaclass } = made;
  // The class that `__new__` makes is not followed, but what it registers is reported.
  for (const [hook, self] of [['__new__', metaclass] as const, ['__init__', made] as const]) {
    const called = isKind(metaclass, 'class') ? findAttribute(metaclass, hook) : undefined;
    const given = [self as Value, made.name, createList(made.bases), createDict(made.attributes)];
    if (isKind(called, 'function')) machine.call(called, createArguments(given, made.name));
  }
  const hook = line.map((one) => one.attributes.get('__init_subclass__')).find((one) => one !== undefined);
  if (isKind(hook, 'function')) machine.call(hook, { ...createArguments([made], made.name), named: options });
}

/** In an Enum each attribute is an instance with a name and a value. */
export function becomeMembers(made: ClassValue): void {
  for (const [name, value] of made.attributes) {
    if (name.startsWith('_') || isKind(value, 'function')) continue;
    const member: InstanceValue = {
      kind: 'instance',
      class: made,
      attributes: new Map<string, Value>([
        ['name', name],
        ['value', value],
      ]),
    };
    made.attributes.set(name, member);
  }
}
