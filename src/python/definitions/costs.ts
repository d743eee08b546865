import { isKind, isMany, isObject, type Machine, type Value } from './values.js';

/** Texts, lists and dicts beyond these are unknown: nothing that a person writes grows so long. */
export const MAX_TEXT = 100_000;
export const MAX_ITEMS = 20_000;

/** What making a value costs, in steps: about one for 16 bytes, so that steps bound memory as well. */
export function measureSize(value: Value | undefined): number {
  if (typeof value === 'string') return value.length >> 4;
  if (!isObject(value)) return 0;
  if (value.kind === 'list') return value.items.length >> 1;
  return value.kind === 'dict' ? (value.entries.size + value.rest.length) * 4 : 0;
}

/** Pays for a value that was made; undefined where it is too long to be kept. */
export function payFor(value: Value | undefined, machine: Machine): Value | undefined {
  machine.spend(measureSize(value));
  if (typeof value === 'string') return value.length > MAX_TEXT ? undefined : value;
  const isTooLong = isKind(value, 'list') && value.items.length > MAX_ITEMS;
  return isTooLong ? undefined : value;
}

/** Pays for looking for one text in another; a search may compare each character of one with each of the other. */
export function paySearch(text: string, searched: string, machine: Machine): void {
  machine.spend((text.length >> 6) + (text.length * searched.length) / 1024);
}

/** Whether an unknown number of items is among those of a list, paid by its length. */
export function hasMany(items: readonly Value[], machine: Machine): boolean {
  machine.spend(items.length >> 4);
  return items.some(isMany);
}
