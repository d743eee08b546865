import { joinWords, type Rule } from './rule.js';

const keepName = (field: string) => field;

/** An empty string or list counts as absent. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** At most one of the fields may be given. */
export function excludeEachOther(...fields: readonly [string, string, ...string[]]): Rule {
  const pairs = fields.flatMap((one, at) => fields.slice(at + 1).map((other) => [one, other]));
  const both = pairs.map((required) => ({
    required,
    properties: Object.fromEntries(required.map((name) => [name, {}])),
  }));
  return {
    fields,
    sentence: `${joinWords(fields, 'and')} cannot be combined.`,
    schema: { not: both.length === 1 ? both[0] : { anyOf: both } },
    problems(value, { name = keepName }) {
      const [first, ...others] = fields.filter((field) => value[field] !== undefined);
      return others.map((field) => ({
        path: [field],
        message: `cannot be combined with ${name(first as string)}`,
      }));
    },
  };
}

/** All of the fields are required. */
export function requireTogether(...fields: readonly [string, string, ...string[]]): Rule {
  return {
    fields,
    sentence: `${joinWords(fields, 'and')} are required together.`,
    schema: { required: fields },
    problems(value, { name = keepName }) {
      const missing = fields.filter((field) => value[field] === undefined);
      return missing.map((field) => {
        const others = fields.filter((other) => other !== field).map(name);
        return { path: [field], message: `is required, together with ${joinWords(others, 'and')}` };
      });
    },
  };
}

/** At least one of the fields is required. */
export function requireAtLeastOne(...fields: readonly [string, string, ...string[]]): Rule {
  return {
    fields,
    sentence: `${joinWords(fields, 'or')} is required.`,
    schema: { anyOf: fields.map((field) => ({ required: [field] })) },
    problems(value, { name = keepName }) {
      if (fields.some((field) => isGiven(value[field]))) return [];
      const [first, ...others] = fields;
      return [
        { path: [first], message: `is required, unless ${joinWords(others.map(name), 'or')} is given` },
      ];
    },
  };
}

/** The field, if given, must be JSON. */
export function requireJson(field: string): Rule {
  return {
    fields: [field],
    sentence: `${field} must be JSON.`,
    schema: { properties: { [field]: { contentMediaType: 'application/json' } } },
    problems(value) {
      const text = value[field];
      if (typeof text !== 'string' || isJson(text)) return [];
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
    sentence: `Emphasis in ${field}, such as (warm light:1.2), must be a number from ${MIN_WEIGHT} to ${MAX_WEIGHT}.`,
    problems(value) {
      const text = value[field];
      if (typeof text !== 'string') return [];
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
