import { z } from 'zod';
import { ResponseError } from './errors.js';
import type { Answer } from './transport.js';

/**
 * Requires an answer to have the kinds of values that its schema declares: 'no nodes' must not be what a
 * captive portal or another API looks like. Null counts as absent. Texts, numbers and enum values are not
 * checked, so that a newer service may answer more than is known here.
 * @throws ResponseError unexpected
 */
export function requireShape({ url, status }: Answer, schema: z.ZodType, data: unknown): void {
  if (schema.safeParse(data).success && !isEmptyObject(schema, data)) return;
  const given = removeNulls(data);
  const issues = schema.safeParse(given).error?.issues ?? [];
  const issue = issues.find((issue) => isOfWrongKind(issue, readPath(given, issue.path)));
  if (!issue && !isEmptyObject(schema, given)) return;
  const where =
    issue && issue.path.length > 0 ? ` ('${issue.path.join('.')}' is missing or of another type)` : '';
  const message = `${url.origin} answered ${status} with JSON of another shape than expected${where}. Is the address right?`;
  throw new ResponseError('unexpected', message, status);
}

function isOfWrongKind({ code, message: _, ...issue }: z.core.$ZodIssue, value: unknown): boolean {
  if (value === undefined) return true;
  if (code !== 'invalid_type') return false;
  return !('expected' in issue && issue.expected === 'int' && typeof value === 'number');
}

/** Where every field is optional, `{}` would pass for an answer. */
function isEmptyObject(schema: z.ZodType, data: unknown): boolean {
  if (!(schema instanceof z.ZodObject) || typeof data !== 'object' || data === null) return false;
  return Object.keys(schema.shape).every((name) => !Object.hasOwn(data, name));
}

function removeNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removeNulls);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([name, field]) => [name, removeNulls(field)]));
}

function readPath(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
}
