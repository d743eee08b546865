import type { Rule } from './rule.js';

const least = 1;
const most = 1.4;

// Decided: emphasis is a number that ends a parenthesis, after a colon that follows neither a digit nor a space:
// `(warm light:1.2)`, but not `(16:9)` or `(at 10:30)`.
const parts = /[()]|(?<=[^\d\s]):([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?=\))/g;

/** Emphasis within the field's text is a weight from 1 to 1.4. */
export function emphasis(field: string): Rule {
  return {
    fields: [field],
    sentence: `Emphasis in ${field}, such as (warm light:1.2), is a number from ${least} to ${most}.`,
    problems(value) {
      const text = value[field];
      if (typeof text !== 'string') return [];
      const wrong = weightsIn(text).find((weight) => !(Number(weight) >= least && Number(weight) <= most));
      if (wrong === undefined) return [];
      const nearest = Number(wrong) < least ? least : most;
      const message = `holds the emphasis ${wrong.slice(0, 20)}; it must be ${least} to ${most}; ${nearest} is the nearest`;
      return [{ path: [field], message }];
    },
  };
}

function weightsIn(text: string): string[] {
  const weights: string[] = [];
  let depth = 0;
  for (const [part, weight] of text.matchAll(parts)) {
    if (part === '(') depth += 1;
    else if (part === ')') depth = Math.max(0, depth - 1);
    else if (depth > 0) weights.push(weight as string);
  }
  return weights;
}
