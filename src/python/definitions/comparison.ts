import { paySearch } from './costs.js';
import { isKind, isObject, type Machine, type Value } from './values.js';

/** A number or boolean as Python calculates with it. */
export function toNumber(value: Value): bigint | number | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'bigint' || typeof value === 'number' ? value : undefined;
}

export function areEqual(left: Value, right: Value, machine: Machine): boolean | undefined {
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length !== right.length) return false;
    machine.spend(left.length >> 6);
  }
  if (left === right) return true;
  const [a, b] = [toNumber(left), toNumber(right)];
  // biome-ignore lint/suspicious/noDoubleEquals: 1 == 1.0 in Python, and between bigint and number in JavaScript.
  if (a !== undefined && b !== undefined) return a == b;
  if (isKind(left, 'path') && isKind(right, 'path') && left.isRelative === right.isRelative)
    return left.path === right.path;
  if (!isObject(left) && !isObject(right)) return false;
  const known = ['list', 'dict', 'class', 'function', 'module'];
  // What the pack defines is nothing that another package has.
  const [own, other] = isKind(right, 'external') ? [left, right] : [right, left];
  if (isKind(other, 'external') && !other.called && (isKind(own, 'class') || isKind(own, 'module')))
    return false;
  const kind = (value: Value) => (isObject(value) ? value.kind : 'plain');
  if (
    kind(left) !== kind(right) &&
    [kind(left), kind(right)].every((k) => k === 'plain' || known.includes(k))
  )
    return false;
  return undefined;
}

export function compareValues(
  operator: string,
  left: Value,
  right: Value,
  machine: Machine,
): boolean | undefined {
  const not = (value: boolean | undefined) => (value === undefined ? undefined : !value);
  switch (operator) {
    case '==':
    case 'is':
      return areEqual(left, right, machine);
    case '!=':
    case 'is not':
      return not(areEqual(left, right, machine));
    case 'in':
      return isContained(right, left, machine);
    case 'not in':
      return not(isContained(right, left, machine));
    default:
      return compareOrder(operator, left, right, machine);
  }
}

/** Variables that a host may well have. */
const COMMON_VARIABLES = new Set<Value>(
  'HOME PATH USER USERNAME USERPROFILE APPDATA LOCALAPPDATA TEMP TMP TMPDIR LANG SHELL TERM PWD'.split(' '),
);

function isContained(container: Value, item: Value, machine: Machine): boolean | undefined {
  if (typeof container === 'string') {
    if (typeof item !== 'string') return undefined;
    paySearch(container, item, machine);
    return container.includes(item);
  }
  if (!isObject(container)) return undefined;
  // Whether a variable is set asks for what nearly no host has; its value would be used.
  if (container.kind === 'external' && container.name === 'os.environ')
    return COMMON_VARIABLES.has(item) ? undefined : false;
  if (container.kind === 'dict') {
    if (!isObject(item) && container.entries.has(item)) return true;
    return container.rest.length > 0 || isObject(item) ? undefined : false;
  }
  if (container.kind !== 'list') return undefined;
  machine.spend(container.items.length >> 3);
  let isKnown = true;
  for (const one of container.items) {
    const answer = areEqual(one, item, machine);
    if (answer) return true;
    if (answer === undefined) isKnown = false;
  }
  return isKnown ? false : undefined;
}

function compareOrder(operator: string, left: Value, right: Value, machine: Machine): boolean | undefined {
  let [a, b]: (string | bigint | number | undefined)[] = [toNumber(left), toNumber(right)];
  if (typeof left === 'string' && typeof right === 'string') {
    machine.spend(Math.min(left.length, right.length) >> 6);
    [a, b] = [left, right];
  }
  if (a === undefined || b === undefined) return undefined;
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  if (operator === '>') return a > b;
  if (operator === '>=') return a >= b;
  return undefined;
}

/** Where a value stands in a list, or -1; paid by what is compared. */
export function findEqual(items: readonly Value[], value: Value, machine: Machine): number {
  machine.spend(items.length >> 3);
  return items.findIndex((item) => areEqual(item, value, machine) === true);
}
