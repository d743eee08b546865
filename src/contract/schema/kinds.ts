import type { z } from 'zod';

/**
 * Finds a value of another kind than its schema declares in the answer of a service. Texts, numbers and enum values are
 * not checked, so that another service may answer more than is known here.
 * @returns its path; undefined if there is none
 */
export function findWrongKind(schema: z.ZodType, data: unknown): readonly PropertyKey[] | undefined {
  const issues = schema.safeParse(data).error?.issues ?? [];
  return issues.find((issue) => isOfWrongKind(issue, readPath(data, issue.path)))?.path;
}

function isOfWrongKind({ code, message: _, ...issue }: z.core.$ZodIssue, value: unknown): boolean {
  if (value === undefined) return true;
  if (code !== 'invalid_type') return false;
  return !('expected' in issue && issue.expected === 'int' && typeof value === 'number');
}

function readPath(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
}
