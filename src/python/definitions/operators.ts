import { areEqual, findEqual, toNumber } from './comparison.js';
import { hasMany, MAX_ITEMS, MAX_TEXT, payFor } from './costs.js';
import { addRest, mergeDicts } from './dicts.js';
import {
  createDict,
  createList,
  type DictValue,
  isAbsent,
  isKind,
  type ListValue,
  type Machine,
  type PathValue,
  replaceMissing,
  type UnknownValue,
  type Value,
} from './values.js';

/** Operands of what makes numbers longer, and the longest number that is kept; beyond them a number is unknown. */
const MAX_OPERAND = 2n ** 512n;
const MAX_WHOLE = 2n ** 1000n;

/** What an operator makes of two values, paid by its size; undefined where that cannot be known. */
export function applyOperator(
  operator: string,
  left: Value,
  right: Value,
  machine: Machine,
): Value | undefined {
  if (isKind(left, 'path') && operator === '/') return addToPath(left, right);
  if (typeof left === 'string') return payFor(operateOnText(operator, left, right, machine), machine);
  if (isKind(left, 'list')) return payFor(operateOnList(operator, left, right, machine), machine);
  if (isKind(left, 'dict'))
    return operator === '|' && isKind(right, 'dict') ? mergeDicts(left, right, machine) : undefined;
  const [a, b] = [toNumber(left), toNumber(right)];
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    const result = WHOLE_OPERATORS[operator]?.(a, b);
    return typeof result === 'bigint' && getMagnitude(result) > MAX_WHOLE ? undefined : result;
  }
  if (a === undefined || b === undefined) return undefined;
  return FLOAT_OPERATORS[operator]?.(Number(a), Number(b));
}

/** Characters of a path; those of a pack's files are shorter. */
const MAX_PATH = 4096;

/** A path's segments put together, without leaving the pack; undefined outside of it. */
export function joinPath(...segments: string[]): string | undefined {
  if (segments.reduce((sum, { length }) => sum + length, 0) > MAX_PATH) return undefined;
  const found: string[] = [];
  for (const segment of segments.join('/').split(/[\\/]/)) {
    if (segment === '..') {
      if (found.length === 0) return undefined;
      found.pop();
    } else if (segment !== '' && segment !== '.') found.push(segment);
  }
  return found.join('/');
}

function addToPath(left: PathValue, right: Value): Value | undefined {
  const path = typeof right === 'string' ? joinPath(`${left.path}/${right}`) : undefined;
  return path === undefined ? undefined : { ...left, path };
}

function operateOnText(operator: string, left: string, right: Value, machine: Machine): Value | undefined {
  if (operator === '+' && typeof right === 'string')
    return left.length + right.length > MAX_TEXT ? undefined : left + right;
  if (operator === '*' && typeof right === 'bigint') {
    const times = countRepetitions(right, left.length, MAX_TEXT);
    return times === undefined ? undefined : left.repeat(times);
  }
  if (operator === '%') return fillInPercent(left, right, machine);
  return undefined;
}

/** How often a value of `length` is repeated; undefined where the result would be too long. */
function countRepetitions(times: bigint, length: number, max: number): number | undefined {
  if (times <= 0n || length === 0) return 0;
  return times * BigInt(length) > BigInt(max) ? undefined : Number(times);
}

function fillInPercent(format: string, right: Value, machine: Machine): string | undefined {
  const values = isKind(right, 'list') ? right.items : [right];
  let next = 0;
  return fillIn(format, /%(.)/g, machine, (conversion) => {
    if (conversion === '%') return '%';
    const value = values[next++];
    if (conversion === 's' && typeof value === 'string') return value;
    return 'sdi'.includes(conversion) && typeof value === 'bigint' ? String(value) : undefined;
  });
}

/** A text with each match of a pattern replaced; undefined where one is unknown or the result becomes too long. */
export function fillIn(
  format: string,
  pattern: RegExp,
  machine: Machine,
  fill: (group: string, whole: string) => string | undefined,
): string | undefined {
  machine.spend(format.length >> 4);
  let text = '';
  let at = 0;
  for (const match of format.matchAll(pattern)) {
    machine.spend(1);
    const filled = fill(match[1] ?? '', match[0]);
    if (filled === undefined) return undefined;
    text += format.slice(at, match.index) + filled;
    if (text.length > MAX_TEXT) return undefined;
    at = match.index + match[0].length;
  }
  return text + format.slice(at);
}

function operateOnList(operator: string, left: ListValue, right: Value, machine: Machine): Value | undefined {
  if (operator === '*' && typeof right === 'bigint') {
    const times = countRepetitions(right, left.items.length, MAX_ITEMS);
    if (times === undefined) return undefined;
    machine.spend(times);
    return createList(Array.from({ length: times }, () => left.items).flat(), left.of);
  }
  if (!isKind(right, 'list')) return undefined;
  if (left.items.length + right.items.length > MAX_ITEMS) return undefined;
  if (operator === '+') return createList([...left.items, ...right.items], left.of);
  if (left.items.length * right.items.length > MAX_COMPARISONS) return undefined;
  const isIn = (item: Value, { items }: ListValue) => findEqual(items, item, machine) !== -1;
  if (operator === '|')
    return createList([...left.items, ...right.items.filter((item) => !isIn(item, left))], left.of);
  if (hasMany(left.items, machine) || hasMany(right.items, machine)) return undefined;
  if (operator !== '-' && operator !== '&') return undefined;
  return createList(
    left.items.filter((item) => isIn(item, right) === (operator === '&')),
    left.of,
  );
}

/** Comparisons that one operation on two sets may take. */
const MAX_COMPARISONS = 1_000_000;

type Operators<Operand> = Record<string, (a: Operand, b: Operand) => bigint | number | undefined>;

const isSmall = (value: bigint) => getMagnitude(value) <= MAX_OPERAND;
const isShift = (value: bigint) => value >= 0n && value <= 512n;

const WHOLE_OPERATORS: Operators<bigint> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => (isSmall(a) && isSmall(b) ? a * b : undefined),
  '/': (a, b) => (b === 0n ? undefined : Number(a) / Number(b)),
  '//': (a, b) => (b === 0n ? undefined : (a - findRemainder(a, b)) / b),
  '%': (a, b) => (b === 0n ? undefined : findRemainder(a, b)),
  '**': (a, b) => (isShift(b) && getMagnitude(a) <= 2n ** 64n ? a ** b : undefined),
  '<<': (a, b) => (isShift(b) && isSmall(a) ? a << b : undefined),
  '>>': (a, b) => (isShift(b) ? a >> b : undefined),
  '|': (a, b) => a | b,
  '&': (a, b) => a & b,
  '^': (a, b) => a ^ b,
};

const FLOAT_OPERATORS: Operators<number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? undefined : a / b),
  '**': (a, b) => a ** b,
};

function getMagnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Python's remainder has the sign of the divisor. */
function findRemainder(a: bigint, b: bigint): bigint {
  return ((a % b) + b) % b;
}

export function applyUnary(operator: string, operand: Value): Value | undefined {
  const value = toNumber(operand);
  if (value === undefined) return undefined;
  if (operator === '-') return -value;
  if (operator === '+') return value;
  return operator === '~' && typeof value === 'bigint' ? ~value : undefined;
}

/** Values that one value may have; more are unknown. */
const MAX_OPTIONS = 50;

/**
 * What stands for two values of which only one will be real: what they share, and for what they do not, a value that is
 * unknown but for its options. Of two classes the first is kept, because the second is nearly always a stand-in for a
 * missing import.
 */
export function mergeAlternatives(
  first: Value,
  second: Value,
  choice: UnknownValue,
  machine: Machine,
  depth = 0,
): Value {
  machine.spend(1);
  if (first === second || isAbsent(second) || areEqual(first, second, machine) === true) return first;
  if (isAbsent(first)) return second;
  const isKept = isDefinite(first) && (isKind(first, 'class') || !isDefinite(second));
  if (isKept) return first;
  if (first === null && isDefinite(second)) return second;
  const options = [...listOptions(first), ...listOptions(second)];
  const computed = options.length > MAX_OPTIONS ? choice : { ...choice, options };
  if (depth > 8) return choice;
  if (isKind(first, 'dict') || isKind(second, 'dict')) {
    const [known, other] = isKind(first, 'dict') ? [first, second] : [second as DictValue, first];
    if (!isKind(other, 'dict')) {
      // What it holds one way or the other is worth more than that it may be something else.
      const result = mergeDicts(createDict(), known, machine);
      addRest(result, choice, other);
      return result;
    }
    const result = mergeDicts(other, known, machine);
    for (const [key, value] of known.entries) {
      const another = other.entries.get(key);
      if (another !== undefined)
        result.entries.set(key, mergeAlternatives(value, another, choice, machine, depth + 1));
    }
    return result;
  }
  if (isKind(first, 'list') && isKind(second, 'list')) {
    machine.spend((first.items.length + second.items.length) >> 1);
    if (!first.items.every(isDefinite) || !second.items.every(isDefinite)) return computed;
    const all = [...new Set([...first.items, ...second.items])];
    return replaceMissing(payFor(createList(all, first.of), machine), computed);
  }
  return computed;
}

function listOptions(value: Value): readonly Value[] {
  return isKind(value, 'unknown') && value.options ? value.options : [value];
}

export function isDefinite(value: Value): boolean {
  return isKind(value, 'class') || isKind(value, 'function') || isKind(value, 'module');
}
