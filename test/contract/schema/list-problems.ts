import type { z } from 'zod';
import { checkValue } from '../../../src/contract/schema/check.js';
import type { RuleContext } from '../../../src/contract/schema/rule.js';

/** Lists the problems of a value as `path message`. */
export function listProblems(schema: z.ZodType, value: unknown, context?: RuleContext): string[] {
  const checked = checkValue(schema, value, context);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path.join('.')} ${message}`);
}
