import type { Expression } from '../definitions/syntax.js';

/** A text that is plain, or put together from plain pieces: `'ex' + 'ec'`. */
export function getPlainText(expression: Expression, depth = 0): string | undefined {
  if (expression.kind === 'constant')
    return typeof expression.value === 'string' ? expression.value : undefined;
  if (depth > 30 || expression.kind !== 'binary' || expression.operator !== '+') return undefined;
  const left = getPlainText(expression.left, depth + 1);
  const right = getPlainText(expression.right, depth + 1);
  return left === undefined || right === undefined ? undefined : left + right;
}

/** Parts of an expression from which its value does not come. */
const NO_VALUES = ['source', 'key', 'test', 'from', 'to', 'parameters'];

/** The expressions of which another is made: its value comes from theirs. */
export function listInner(expression: Expression): Expression[] {
  type Part = { readonly kind?: string; readonly value?: unknown; readonly iterable?: unknown } | undefined;
  return Object.entries(expression)
    .flatMap(([name, part]): Part[] => (NO_VALUES.includes(name) ? [] : part))
    .map((part) => (part?.kind ? part : (part?.value ?? part?.iterable)) as Expression | undefined)
    .filter((inner): inner is Expression => inner?.kind !== undefined);
}

/** Some item of a list, such as the one a loop is at. */
export function readItem(value: Expression): Expression {
  return { ...value, kind: 'item', object: value, key: value };
}
