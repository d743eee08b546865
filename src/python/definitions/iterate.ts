import { isObject, type Value } from './values.js';

/** The items a loop would see; undefined when not even their kind is known. */
export function iterate(value: Value): Value[] | undefined {
  if (typeof value === 'string') return value.length > 2000 ? undefined : [...value];
  if (!isObject(value)) return undefined;
  if (value.kind === 'list') return [...value.items];
  if (value.kind === 'dict') return [...value.entries.keys(), ...value.rest.map(({ key }) => key)];
  if (value.kind === 'class') {
    // Iterating over an Enum gives its members.
    const members = [...value.attributes.values()].filter(
      (member) => isObject(member) && member.kind === 'instance' && member.class === value,
    );
    return members.length > 0 ? members : undefined;
  }
  return undefined;
}
