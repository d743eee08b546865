import type { z } from 'zod';
import { findExcessEntries } from './entries.js';
import { joinTexts, type Message, say } from './message.js';
import { findBrokenRules, type RuleContext } from './rule.js';
import type { Problem } from './schema-types.js';

export type CheckResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: Problem[] };

/** What is wrong with a field that a schema does not have. */
export const UNKNOWN_FIELD = 'is not a known field';

/** Decided: at most a hundred problems are reported. */
const MAX_PROBLEMS = 100;

/**
 * Checks a value against a schema and its rules.
 * @returns the value with defaults filled in, or everything that is wrong with it
 */
export function checkValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  context: RuleContext = {},
): CheckResult<z.output<Schema>> {
  const excess = findExcessEntries(schema, value, context.limits);
  if (excess.length > 0) return { ok: false, problems: excess.slice(0, MAX_PROBLEMS) };
  const result = schema.safeParse(value, { error: describeIssue });
  const broken = findBrokenRules(schema, value, context);
  if (result.success && broken.length === 0) return { ok: true, value: result.data };
  // A rule says more about a field than the range of the field does.
  const reported = new Set(broken.map(({ path }) => path.join('.')));
  const issues = (result.error?.issues ?? []).slice(0, MAX_PROBLEMS).flatMap(toProblems);
  const others = issues.filter(({ path }) => !reported.has(path.join('.')));
  return { ok: false, problems: [...others, ...broken].slice(0, MAX_PROBLEMS) };
}

function toProblems(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  if (issue.code === 'invalid_value') {
    const choices = describeChoices(issue);
    // zod has messages as strings only.
    return [{ path, message: issue.message === String(choices) ? choices : issue.message, isOfValue: true }];
  }
  if (issue.code !== 'unrecognized_keys') {
    const isOfValue = OF_VALUE.includes(issue.code);
    return [{ path, message: issue.message, ...(isOfValue && { isOfValue }) }];
  }
  return issue.keys.slice(0, MAX_PROBLEMS).map((key) => ({ path: [...path, key], message: UNKNOWN_FIELD }));
}

const OF_VALUE: readonly string[] = ['invalid_type', 'invalid_format', 'too_small', 'too_big'];

const TYPE_NAMES: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMAT_NAMES: Record<string, string> = {
  datetime: 'a date-time such as 2026-01-31T12:00:00Z',
  url: 'a URL',
  email: 'an email address',
};

const UNITS: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

function describeBound(origin: string, limit: number | bigint, side: 'least' | 'most', isIn = true): string {
  const unit = UNITS[origin];
  if (!unit && !isIn) return `must be ${side === 'least' ? 'more' : 'less'} than ${limit}`;
  if (!unit) return `must be at ${side} ${limit}`;
  if (side === 'least' && limit === 1) return 'must not be empty';
  return `must have at ${side} ${limit} ${limit === 1 ? unit[0] : unit[1]}`;
}

export function describeChoices({ values }: { readonly values: readonly unknown[] }): Message {
  const choices = values.map((value) => ({ value: String(value) }));
  return say`must be ${choices.length === 1 ? '' : 'one of '}${joinTexts(choices, ', ')}`;
}

/** For text in place of a whole number zod only expects `a number`, which `1e3` would seem to be. */
function isWholeNumber(schema: unknown): boolean {
  const { format } = (schema ?? {}) as Partial<z.ZodNumber>;
  return format === 'safeint' || format === 'int32';
}

const describeIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${TYPE_NAMES[isWholeNumber(issue.inst) ? 'int' : issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return String(describeChoices(issue));
    case 'too_small':
      return describeBound(issue.origin, issue.minimum, 'least', issue.inclusive);
    case 'too_big':
      return describeBound(issue.origin, issue.maximum, 'most', issue.inclusive);
    case 'invalid_format':
      return `must be ${FORMAT_NAMES[issue.format] ?? `of the form ${issue.pattern ?? issue.format}`}`;
    default:
      return undefined;
  }
};
