import { descendsFrom, findAttribute, listAncestry } from './ancestry.js';
import { measureSize } from './costs.js';
import { listItems } from './items.js';
import {
  type Arguments,
  type ClassValue,
  createDict,
  createUnknown,
  type DictValue,
  type ExternalValue,
  isKind,
  isObject,
  type Machine,
  type Value,
} from './values.js';

/* Python's reflection: attributes, types, ancestry. */

/** What making a class costs besides its attributes. */
export const CLASS_STEPS = 40;

/** Whether an object has an attribute; undefined where that depends on another package. */
export function hasAttribute(object: Value, name: string, machine: Machine): boolean | undefined {
  if (!isObject(object)) return undefined;
  payLookup(object, machine);
  // Names in capitals are the host's own: no class of a library has them.
  const isHosts = /^[A-Z][A-Z_]*$/.test(name);
  const mayHave = (base: ClassValue | ExternalValue) =>
    base.kind === 'external' && (isHosts ? HOST.test(base.name) : !base.name.startsWith('builtins.'));
  const inherited = (one: ClassValue) =>
    findAttribute(one, name) !== undefined || ['__name__', '__doc__', '__module__'].includes(name)
      ? true
      : listAncestry(one).some(mayHave) ||
          listAncestry(one).some(
            (base) => base.kind === 'class' && base.bases.some((inner) => isKind(inner, 'unknown')),
          )
        ? undefined
        : false;
  switch (object.kind) {
    case 'class':
      return inherited(object);
    case 'instance':
      return object.attributes.has(name) ? true : inherited(object.class);
    case 'module': {
      const found = machine.attribute(object, name, name);
      return isKind(found, 'unknown') ? (object.scope.names.has('*') ? undefined : false) : true;
    }
    default:
      return undefined;
  }
}

export function getAttribute(
  { list: [object, name, otherwise], text: whole }: Arguments,
  machine: Machine,
): Value | undefined {
  if (object === undefined || typeof name !== 'string') return undefined;
  const known = hasAttribute(object, name, machine);
  if (known === false) return otherwise;
  return known === undefined && otherwise !== undefined ? undefined : machine.attribute(object, name, whole);
}

/** Pays for looking through the classes that an object's class inherits from. */
export function payLookup(object: Value, machine: Machine): void {
  if (!isObject(object)) return;
  const one = object.kind === 'super' && isObject(object.self) ? object.self : object;
  const from = one.kind === 'class' ? one : one.kind === 'instance' ? one.class : undefined;
  if (from) machine.spend(listAncestry(from).length / 8);
}

export function isInstance({ list: [object, type] }: Arguments, machine: Machine): boolean | undefined {
  const names = type === undefined ? [] : (listItems(type, machine) ?? [type]);
  if (object !== undefined) for (const _ of names) payLookup(object, machine);
  const answers = names.map((one): boolean | undefined => {
    if (!isObject(one) || object === undefined) return undefined;
    if (one.kind === 'class')
      return isKind(object, 'instance') ? listAncestry(object.class).includes(one) : undefined;
    if (one.kind !== 'external') return undefined;
    const expected = one.name.replace('builtins.', '');
    if (typeof object === 'string') return expected === 'str';
    if (typeof object === 'bigint') return expected === 'int';
    if (typeof object === 'number') return expected === 'float';
    if (typeof object === 'boolean') return expected === 'bool' || expected === 'int';
    if (object === null) return false;
    if (object.kind === 'list') return expected === object.of;
    if (object.kind === 'dict') return expected === 'dict';
    if (object.kind === 'class') return expected === 'type';
    return undefined;
  });
  if (answers.includes(true)) return true;
  return answers.length === 0 || answers.includes(undefined) ? undefined : false;
}

/** Packages of the host, whose classes inherit from each other. */
const HOST = /^(?:comfy|nodes\b)/;

/** Whether a class may inherit from one of another package: from the same package, or both from the host. */
function isRelated(one: ClassValue | ExternalValue, base: ExternalValue): boolean {
  if (one.kind === 'class') return one.bases.some((inner) => isKind(inner, 'unknown'));
  const [package_, other] = [one.name, base.name].map((name) => name.split('.')[0]);
  return package_ === other || (HOST.test(one.name) && HOST.test(base.name));
}

export function isSubclass({ list: [type, base] }: Arguments, machine: Machine): boolean | undefined {
  if (type === undefined || base === undefined || !isObject(type) || !isObject(base) || type.kind !== 'class')
    return undefined;
  payLookup(type, machine);
  if (base.kind === 'class') {
    if (listAncestry(type).includes(base)) return true;
    return listAncestry(type).some((one) => one.kind === 'external') ? undefined : false;
  }
  if (base.kind !== 'external') return undefined;
  if (descendsFrom(type, base.name.split('.').at(-1) ?? '')) return true;
  return listAncestry(type).some((one) => isRelated(one, base)) ? undefined : false;
}

export function getType(
  { list: [first, bases, attributes] }: Arguments,
  machine: Machine,
): Value | undefined {
  if (first === undefined) return undefined;
  if (typeof first === 'string' && isObject(bases ?? null) && isObject(attributes ?? null)) {
    const own = attributes as Value;
    if (!isKind(own, 'dict')) return undefined;
    machine.spend(CLASS_STEPS + measureSize(own));
    const entries = [...own.entries].filter(
      (entry): entry is [string, Value] => typeof entry[0] === 'string',
    );
    return {
      kind: 'class',
      name: first,
      path: '',
      line: 0,
      bases: listItems(bases, machine) ?? [createUnknown('bases')],
      attributes: new Map(entries),
      heirs: [],
    };
  }
  return isKind(first, 'instance') ? first.class : undefined;
}

/** A copy of an object's attributes, as `vars` gives it. */
export function copyAttributes(object: Value | undefined, machine: Machine): DictValue | undefined {
  if (!isObject(object)) return undefined;
  const names =
    object.kind === 'class' || object.kind === 'instance'
      ? object.attributes
      : object.kind === 'module'
        ? object.scope.names
        : undefined;
  machine.spend(4 * (names?.size ?? 0));
  return names && createDict(names);
}
