import type { z } from 'zod';
import { type Asker, brokenRules } from './rules/rule.js';

/** One thing wrong with a value: where it stands in the value and a sentence without its subject. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: Problem[] };

/** Holds a value against a schema and its rules and names everything wrong with it at once. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  asker: Asker = {},
): Checked<z.output<Schema>> {
  const result = schema.safeParse(value, { error: sentence });
  const broken = brokenRules(schema, value, asker);
  if (result.success && broken.length === 0) return { ok: true, value: result.data };
  // A rule knows more about a field than the field's own range does.
  const told = new Set(broken.map(({ path }) => path.join('.')));
  const issues = (result.error?.issues ?? []).flatMap(problemsOf);
  return { ok: false, problems: [...issues.filter(({ path }) => !told.has(path.join('.'))), ...broken] };
}

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  return issue.keys.map((key) => ({ path: [...path, key], message: 'is not a field known here' }));
}

const typeNames: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const formatNames: Record<string, string> = {
  datetime: 'a date-time such as 2026-01-31T12:00:00Z',
  url: 'a URL',
  email: 'an e-mail address',
};

const units: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

function bound(origin: string, limit: number | bigint, side: 'least' | 'most'): string {
  const unit = units[origin];
  if (!unit) return `must be at ${side} ${limit}`;
  if (side === 'least' && limit === 1) return 'must not be empty';
  return `must hold at ${side} ${limit} ${limit === 1 ? unit[0] : unit[1]}`;
}

/** zod expects of text for a whole number no more than `a number`, which `1e3` would seem to be. */
function wholeNumber(schema: unknown): boolean {
  const { format } = (schema ?? {}) as Partial<z.ZodNumber>;
  return format === 'safeint' || format === 'int32';
}

const sentence: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${typeNames[wholeNumber(issue.inst) ? 'int' : issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return bound(issue.origin, issue.minimum, 'least');
    case 'too_big':
      return bound(issue.origin, issue.maximum, 'most');
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return `must be ${formatNames[issue.format] ?? `of the form ${issue.pattern ?? issue.format}`}`;
    default:
      return undefined;
  }
};
