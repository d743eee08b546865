import type { z } from 'zod';
import { check } from '../../../src/contract/schema/check.js';
import type { Asker } from '../../../src/contract/schema/rule.js';

/** Lists the problems of a value as `path message`. */
export function listProblems(schema: z.ZodType, value: unknown, asker?: Asker): string[] {
  const checked = check(schema, value, asker);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path.join('.')} ${message}`);
}
