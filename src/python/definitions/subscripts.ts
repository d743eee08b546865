import { isMany, isObject, list, type Value } from './values.js';

/** `object[key]`; undefined where it cannot be known. */
export function item(object: Value, key: Value): Value | undefined {
  if (!isObject(object)) {
    if (typeof object !== 'string' || typeof key !== 'bigint') return undefined;
    return object.at(Number(key));
  }
  if (object.kind === 'dict') return isObject(key) ? undefined : object.entries.get(key);
  // An Enum's member by its name; a generic class such as Base[T] is the class itself.
  if (object.kind === 'class') return typeof key === 'string' ? object.attributes.get(key) : object;
  if (object.kind === 'external' && !object.called) return { ...object, of: object };
  if (object.kind !== 'list' || typeof key !== 'bigint' || object.items.some(isMany)) return undefined;
  return object.items.at(Number(key));
}

/** `object[from:to]`. */
export function slice(object: Value, from: Value, to: Value): Value | undefined {
  const bound = (one: Value) =>
    typeof one === 'bigint' ? Number(one) : one === null ? undefined : Number.NaN;
  const [start, end] = [bound(from), bound(to)];
  if (Number.isNaN(start) || Number.isNaN(end)) return undefined;
  if (typeof object === 'string') return object.slice(start, end);
  if (!isObject(object) || object.kind !== 'list' || object.items.some(isMany)) return undefined;
  return list(object.items.slice(start, end), object.of);
}
