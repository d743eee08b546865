import { type DictValue, dict, isMany, isObject, type ListValue, list, type Value } from './values.js';

/** Nothing a person writes grows beyond these; what does is unknown, so that hostile arithmetic costs nothing. */
export const MAX_TEXT = 100_000;
export const MAX_ITEMS = 20_000;
const MAX_BITS = 2n ** 512n;

/** Undefined where the result cannot be known. */
export function binary(operator: string, left: Value, right: Value): Value | undefined {
  if (isObject(left) && left.kind === 'path') return onPath(operator, left.path, right);
  if (typeof left === 'string') return onText(operator, left, right);
  if (isObject(left) && left.kind === 'list') return onList(operator, left, right);
  if (isObject(left) && left.kind === 'dict')
    return operator === '|' && isObject(right) && right.kind === 'dict' ? merged(left, right) : undefined;
  const [a, b] = [numeric(left), numeric(right)];
  if (typeof a === 'bigint' && typeof b === 'bigint') return onWholes(operator, a, b);
  if (a === undefined || b === undefined) return undefined;
  return onFloats(operator, Number(a), Number(b));
}

/** A path's segments put together, without leaving the pack; undefined outside of it. */
export function joinPath(...segments: string[]): string | undefined {
  const found: string[] = [];
  for (const segment of segments.join('/').split(/[\\/]/)) {
    if (segment === '..') {
      if (found.length === 0) return undefined;
      found.pop();
    } else if (segment !== '' && segment !== '.') found.push(segment);
  }
  return found.join('/');
}

function onPath(operator: string, left: string, right: Value): Value | undefined {
  if (typeof right !== 'string' || (operator !== '/' && operator !== '+')) return undefined;
  const path = joinPath(operator === '/' ? `${left}/${right}` : left + right);
  return path === undefined ? undefined : { kind: 'path', path };
}

function onText(operator: string, left: string, right: Value): Value | undefined {
  if (operator === '+' && typeof right === 'string')
    return left.length + right.length > MAX_TEXT ? undefined : left + right;
  if (operator === '*' && typeof right === 'bigint') {
    const times = repetitions(right, left.length, MAX_TEXT);
    return times === undefined ? undefined : left.repeat(times);
  }
  if (operator === '%') return percent(left, right);
  return undefined;
}

/** How often a value of `length` is repeated; undefined where the result would be too long. */
function repetitions(times: bigint, length: number, max: number): number | undefined {
  if (times <= 0n || length === 0) return 0;
  return times * BigInt(length) > BigInt(max) ? undefined : Number(times);
}

function percent(format: string, right: Value): string | undefined {
  const values = isObject(right) && right.kind === 'list' ? [...right.items] : [right];
  let known = true;
  const text = format.replace(/%(.)/g, (_, conversion: string) => {
    if (conversion === '%') return '%';
    const value = values.shift();
    if (conversion === 's' && typeof value === 'string') return value;
    if ('sdi'.includes(conversion) && typeof value === 'bigint') return String(value);
    known = false;
    return '';
  });
  return known && text.length <= MAX_TEXT ? text : undefined;
}

function onList(operator: string, left: ListValue, right: Value): Value | undefined {
  if (operator === '*' && typeof right === 'bigint') {
    const times = repetitions(right, left.items.length, MAX_ITEMS);
    if (times === undefined) return undefined;
    return list(Array.from({ length: times }, () => left.items).flat(), left.of);
  }
  if (!isObject(right) || right.kind !== 'list') return undefined;
  if (left.items.length + right.items.length > MAX_ITEMS) return undefined;
  if (operator === '+') return list([...left.items, ...right.items], left.of);
  const same = (item: Value, other: readonly Value[]) => other.some((one) => equal(one, item) === true);
  if (operator === '|')
    return list([...left.items, ...right.items.filter((i) => !same(i, left.items))], left.of);
  if ([...left.items, ...right.items].some(isMany) || left.items.length * right.items.length > 1e6)
    return undefined;
  if (operator === '-')
    return list(
      left.items.filter((item) => !same(item, right.items)),
      left.of,
    );
  if (operator === '&')
    return list(
      left.items.filter((item) => same(item, right.items)),
      left.of,
    );
  return undefined;
}

export function merged(left: DictValue, right: DictValue): DictValue {
  const result = dict([...left.entries, ...right.entries]);
  result.rest.push(...left.rest, ...right.rest);
  return result;
}

function numeric(value: Value): bigint | number | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'bigint' || typeof value === 'number' ? value : undefined;
}

function onWholes(operator: string, a: bigint, b: bigint): Value | undefined {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return abs(a) > MAX_BITS || abs(b) > MAX_BITS ? undefined : a * b;
    case '/':
      return b === 0n ? undefined : Number(a) / Number(b);
    case '//':
      return b === 0n ? undefined : (a - modulo(a, b)) / b;
    case '%':
      return b === 0n ? undefined : modulo(a, b);
    case '**':
      return b < 0n || b > 512n || abs(a) > 2n ** 64n ? undefined : a ** b;
    case '<<':
      return b < 0n || b > 512n || abs(a) > MAX_BITS ? undefined : a << b;
    case '>>':
      return b < 0n || b > 512n ? undefined : a >> b;
    case '|':
      return a | b;
    case '&':
      return a & b;
    case '^':
      return a ^ b;
    default:
      return undefined;
  }
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Python's remainder has the sign of the divisor. */
function modulo(a: bigint, b: bigint): bigint {
  return ((a % b) + b) % b;
}

function onFloats(operator: string, a: number, b: number): number | undefined {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0 ? undefined : a / b;
    case '**':
      return a ** b;
    default:
      return undefined;
  }
}

export function unary(operator: string, operand: Value): Value | undefined {
  const value = numeric(operand);
  if (value === undefined) return undefined;
  if (operator === '-') return -value;
  if (operator === '+') return value;
  return operator === '~' && typeof value === 'bigint' ? ~value : undefined;
}

export function equal(left: Value, right: Value): boolean | undefined {
  if (left === right) return true;
  const [a, b] = [numeric(left), numeric(right)];
  // biome-ignore lint/suspicious/noDoubleEquals: 1 == 1.0 in Python, and between bigint and number in JavaScript.
  if (a !== undefined && b !== undefined) return a == b;
  // A module of a pack is imported, never run as a program.
  if (isObject(left) && left.kind === 'external' && left.name === '__name__' && right === '__main__')
    return false;
  if (!isObject(left) && !isObject(right)) return false;
  const known = ['list', 'dict', 'class', 'function', 'module'];
  const kind = (value: Value) => (isObject(value) ? value.kind : 'plain');
  if (
    kind(left) !== kind(right) &&
    [kind(left), kind(right)].every((k) => k === 'plain' || known.includes(k))
  )
    return false;
  return undefined;
}

export function compare(operator: string, left: Value, right: Value): boolean | undefined {
  const not = (value: boolean | undefined) => (value === undefined ? undefined : !value);
  switch (operator) {
    case '==':
    case 'is':
      return equal(left, right);
    case '!=':
    case 'is not':
      return not(equal(left, right));
    case 'in':
      return contains(right, left);
    case 'not in':
      return not(contains(right, left));
    default:
      return ordered(operator, left, right);
  }
}

function contains(container: Value, item: Value): boolean | undefined {
  if (typeof container === 'string') return typeof item === 'string' ? container.includes(item) : undefined;
  if (!isObject(container)) return undefined;
  if (container.kind === 'dict') {
    if (!isObject(item) && container.entries.has(item)) return true;
    return container.rest.length > 0 || isObject(item) ? undefined : false;
  }
  if (container.kind !== 'list') return undefined;
  const answers = container.items.map((one) => equal(one, item));
  if (answers.includes(true)) return true;
  return answers.includes(undefined) ? undefined : false;
}

function ordered(operator: string, left: Value, right: Value): boolean | undefined {
  let [a, b]: (string | bigint | number | undefined)[] = [numeric(left), numeric(right)];
  if (typeof left === 'string' && typeof right === 'string') [a, b] = [left, right];
  if (a === undefined || b === undefined) return undefined;
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  if (operator === '>') return a > b;
  if (operator === '>=') return a >= b;
  return undefined;
}

/**
 * What stands for two values of which only one will be real: what they share, and a mark for what they do not.
 * Classes, functions and modules keep the first, because the second is nearly always a stand-in for a missing import.
 */
export function either(first: Value, second: Value, text: string, depth = 0): Value {
  if (first === second || equal(first, second) === true) return first;
  const computed: Value = { kind: 'unknown', text };
  if (first === null) return isObject(second) && definite(second) ? second : computed;
  if (!isObject(first)) return computed;
  if (definite(first)) return first;
  if (!isObject(second) || depth > 8) return computed;
  if (first.kind === 'dict' && second.kind === 'dict') {
    const result = merged(second, first);
    for (const [key, value] of first.entries) {
      const other = second.entries.get(key);
      result.entries.set(key, other === undefined ? value : either(value, other, text, depth + 1));
    }
    return result;
  }
  if (first.kind === 'list' && second.kind === 'list') {
    const extra = second.items.filter((item) => !first.items.includes(item));
    const classes = [...first.items, ...extra].every((item) => isObject(item) && item.kind === 'class');
    return classes ? list([...first.items, ...extra], first.of) : computed;
  }
  return computed;
}

function definite(value: { readonly kind: string }): boolean {
  return value.kind === 'class' || value.kind === 'function' || value.kind === 'module';
}
