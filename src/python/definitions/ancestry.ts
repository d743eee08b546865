import { type ClassValue, type ExternalValue, isObject, type Value } from './values.js';

const ancestries = new WeakMap<ClassValue, readonly (ClassValue | ExternalValue)[]>();
const MAX_ANCESTRY = 200;

/** A class before those it inherits from: its own line of resolution, bounded and worked out once. */
export function listAncestry(value: ClassValue): readonly (ClassValue | ExternalValue)[] {
  const known = ancestries.get(value);
  if (known) return known;
  const found = new Set<ClassValue | ExternalValue>();
  let visits = 0;
  const visit = (one: Value, depth: number) => {
    if (!isObject(one) || depth > 40 || ++visits > MAX_ANCESTRY) return;
    if (one.kind === 'external') found.add(one);
    if (one.kind !== 'class' || found.has(one)) return;
    found.add(one);
    for (const base of one.bases.slice(0, MAX_ANCESTRY)) visit(base, depth + 1);
  };
  visit(value, 0);
  const line = [...found];
  ancestries.set(value, line);
  return line;
}

/** Whether a class comes from one of another package, such as `str` or `Enum`. */
export function descendsFrom(value: ClassValue, ...names: string[]): boolean {
  return listAncestry(value).some(
    (one) => one.kind === 'external' && names.includes(one.name.split('.').at(-1) ?? ''),
  );
}

export function findAttribute(value: ClassValue, name: string): Value | undefined {
  for (const one of listAncestry(value)) {
    const attribute = one.kind === 'class' ? one.attributes.get(name) : undefined;
    if (attribute !== undefined) return attribute;
  }
  return undefined;
}
