import { iterate } from './iterate.js';
import {
  type Arguments,
  type ClassValue,
  type DictValue,
  descends,
  dict,
  find,
  isObject,
  lineage,
  type Machine,
  unknown,
  type Value,
} from './values.js';

/* What Python tells of its own objects: attributes, types, ancestry. */

/** Whether an object has an attribute; undefined where that depends on another package. */
export function has(object: Value, name: string, machine: Machine): boolean | undefined {
  if (!isObject(object)) return undefined;
  const inherited = (one: ClassValue) =>
    find(one, name) !== undefined || ['__name__', '__doc__', '__module__'].includes(name)
      ? true
      : lineage(one).some((base) => base.kind === 'external' && !base.name.startsWith('builtins.'))
        ? undefined
        : false;
  switch (object.kind) {
    case 'class':
      return inherited(object);
    case 'instance':
      return object.attributes.has(name) ? true : inherited(object.class);
    case 'module': {
      const found = machine.attribute(object, name, name);
      return isObject(found) && found.kind === 'unknown'
        ? object.scope.names.has('*')
          ? undefined
          : false
        : true;
    }
    default:
      return undefined;
  }
}

export function getattr(
  { list: [object, name, otherwise], text: whole }: Arguments,
  machine: Machine,
): Value | undefined {
  if (object === undefined || typeof name !== 'string') return undefined;
  const known = has(object, name, machine);
  if (known === false) return otherwise;
  return known === undefined && otherwise !== undefined ? undefined : machine.attribute(object, name, whole);
}

export function isInstance({ list: [object, type] }: Arguments): boolean | undefined {
  const names = (type !== undefined && (iterate(type) ?? [type])) || [];
  const answers = names.map((one): boolean | undefined => {
    if (!isObject(one) || object === undefined) return undefined;
    if (one.kind === 'class')
      return isObject(object) && object.kind === 'instance' ? lineage(object.class).includes(one) : undefined;
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

export function isSubclass({ list: [type, base] }: Arguments): boolean | undefined {
  if (type === undefined || base === undefined || !isObject(type) || !isObject(base) || type.kind !== 'class')
    return undefined;
  if (base.kind === 'class') {
    if (lineage(type).includes(base)) return true;
    return lineage(type).some((one) => one.kind === 'external') ? undefined : false;
  }
  if (base.kind !== 'external') return undefined;
  return descends(type, base.name.split('.').at(-1) ?? '') || undefined;
}

export function typeOf({ list: [first, bases, attributes] }: Arguments): Value | undefined {
  if (first === undefined) return undefined;
  if (typeof first === 'string' && isObject(bases ?? null) && isObject(attributes ?? null)) {
    const own = attributes as Value;
    if (!isObject(own) || own.kind !== 'dict') return undefined;
    const entries = [...own.entries].filter(
      (entry): entry is [string, Value] => typeof entry[0] === 'string',
    );
    return {
      kind: 'class',
      name: first,
      path: '',
      line: 0,
      bases: (bases === undefined ? undefined : iterate(bases)) ?? [unknown('bases')],
      attributes: new Map(entries),
    };
  }
  return isObject(first) && first.kind === 'instance' ? first.class : undefined;
}

export function attributesOf(object: Value | undefined): DictValue | undefined {
  if (object === undefined || !isObject(object)) return undefined;
  if (object.kind === 'class' || object.kind === 'instance') return dict(object.attributes);
  return object.kind === 'module' ? dict(object.scope.names) : undefined;
}
