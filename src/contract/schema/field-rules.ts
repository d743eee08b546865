import { say } from './message.js';
import type { Rule } from './rule.js';

/** A longer text is refused for its length, so its content, which takes long to read, is not checked. */
const MAX_CHECKED = 2 * 1_048_576;

/** An empty string or list counts as absent. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** At most one of the fields may be given. */
export function excludeEachOther(one: string, other: string): Rule {
  return {
    fields: [one, other],
    sentence: say`${{ field: one }} and ${{ field: other }} cannot be combined.`,
    schema: { not: { required: [one, other], properties: { [one]: {}, [other]: {} } } },
    problems(value) {
      if (value[one] === undefined || value[other] === undefined) return [];
      return [{ path: [other], message: say`cannot be combined with ${{ field: one }}` }];
    },
  };
}

export function requireTogether(one: string, other: string): Rule {
  const fields = [one, other];
  return {
    fields,
    together: [one, other],
    sentence: say`${{ field: one }} and ${{ field: other }} are required together.`,
    schema: { required: fields },
    problems: (value) =>
      fields.flatMap((field, at) => {
        const message = say`is required, together with ${{ field: fields[1 - at] as string }}`;
        return value[field] === undefined ? [{ path: [field], message }] : [];
      }),
  };
}

/** At least one of the fields is required. */
export function requireAtLeastOne(one: string, other: string): Rule {
  const fields = [one, other];
  return {
    fields,
    sentence: say`${{ field: one }} or ${{ field: other }} is required.`,
    schema: { anyOf: fields.map((field) => ({ required: [field] })) },
    problems(value) {
      if (fields.some((field) => isGiven(value[field]))) return [];
      return [{ path: [one], message: say`is required, unless ${{ field: other }} is given` }];
    },
  };
}

/** The field, if given, must be JSON. */
export function requireJson(field: string): Rule {
  return {
    fields: [field],
    sentence: say`${{ field }} must be JSON.`,
    schema: { properties: { [field]: { contentMediaType: 'application/json' } } },
    problems(value) {
      const text = value[field];
      if (typeof text !== 'string' || text.length > MAX_CHECKED || isJson(text)) return [];
      return [{ path: [field], message: 'must be JSON, such as {"scene": 4}' }];
    },
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const MIN_WEIGHT = 1;
const MAX_WEIGHT = 1.4;

// Decided: emphasis is a number that ends a parenthesis, after a colon that follows neither a digit nor a
// space: `(warm light:1.2)`, but not `(16:9)` or `(at 10:30)`.
const EMPHASIS_PARTS = /[()]|(?<=[^\d\s]):([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?=\))/g;

/** Emphasis in the field must have a weight from 1 to 1.4. */
export function limitEmphasis(field: string): Rule {
  return {
    fields: [field],
    sentence: say`Emphasis in ${{ field }}, such as (warm light:1.2), must be a number from ${MIN_WEIGHT} to ${MAX_WEIGHT}.`,
    problems(value) {
      const text = value[field];
      if (typeof text !== 'string' || text.length > MAX_CHECKED) return [];
      const wrong = findWeights(text).find(
        (weight) => !(Number(weight) >= MIN_WEIGHT && Number(weight) <= MAX_WEIGHT),
      );
      if (wrong === undefined) return [];
      const nearest = Number(wrong) < MIN_WEIGHT ? MIN_WEIGHT : MAX_WEIGHT;
      const message = `contains the emphasis ${wrong.slice(0, 20)}; it must be ${MIN_WEIGHT} to ${MAX_WEIGHT}; ${nearest} is the nearest`;
      return [{ path: [field], message }];
    },
  };
}

function findWeights(text: string): string[] {
  const weights: string[] = [];
  let depth = 0;
  for (const [part, weight] of text.matchAll(EMPHASIS_PARTS)) {
    if (part === '(') depth += 1;
    else if (part === ')') depth = Math.max(0, depth - 1);
    else if (depth > 0) weights.push(weight as string);
  }
  return weights;
}
