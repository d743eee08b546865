import { listed, type Rule } from './rule.js';

type Fields = Readonly<Record<string, unknown>>;

const asIs = (field: string) => field;

/** An empty text or list says nothing. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** At most one of the fields. */
export function exclusive(...fields: readonly [string, string, ...string[]]): Rule {
  const pairs = fields.flatMap((one, at) => fields.slice(at + 1).map((other) => [one, other]));
  const both = pairs.map((required) => ({ required }));
  return {
    fields,
    sentence: `${listed(fields, 'and')} exclude each other.`,
    schema: { not: both.length === 1 ? both[0] : { anyOf: both } },
    problems(value: Fields, { name = asIs }) {
      const [first, ...others] = fields.filter((field) => value[field] !== undefined);
      return others.map((field) => ({
        path: [field],
        message: `and ${name(first as string)} exclude each other; give one of them`,
      }));
    },
  };
}

/** All of the fields, always; one without the others is no use. */
export function requiredTogether(...fields: readonly [string, string, ...string[]]): Rule {
  return {
    fields,
    sentence: `${listed(fields, 'and')} are required together.`,
    schema: { required: fields },
    problems(value: Fields, { name = asIs }) {
      const missing = fields.filter((field) => value[field] === undefined);
      return missing.map((field) => {
        const others = fields.filter((other) => other !== field).map(name);
        return { path: [field], message: `is required, together with ${listed(others, 'and')}` };
      });
    },
  };
}

/** One of the fields or more. */
export function atLeastOne(...fields: readonly [string, string, ...string[]]): Rule {
  return {
    fields,
    sentence: `${listed(fields, 'or')} is required.`,
    schema: { anyOf: fields.map((field) => ({ required: [field] })) },
    problems(value: Fields, { name = asIs }) {
      if (fields.some((field) => isGiven(value[field]))) return [];
      const [first, ...others] = fields;
      return [{ path: [first], message: `is required, unless ${listed(others.map(name), 'or')} is given` }];
    },
  };
}

/** The field, where it is given, is JSON text. */
export function jsonText(field: string): Rule {
  return {
    fields: [field],
    sentence: `${field} holds JSON.`,
    schema: { properties: { [field]: { contentMediaType: 'application/json' } } },
    problems(value: Fields) {
      const text = value[field];
      if (typeof text !== 'string' || parses(text)) return [];
      return [{ path: [field], message: 'must be JSON, such as {"scene": 4}' }];
    },
  };
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
