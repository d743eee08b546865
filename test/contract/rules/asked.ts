import type { z } from 'zod';
import { check } from '../../../src/contract/problems.js';
import type { Asker } from '../../../src/contract/rules/rule.js';

/** What is wrong with a value, as `path message`; nothing where it passes. */
export function asked(schema: z.ZodType, value: unknown, asker?: Asker): string[] {
  const checked = check(schema, value, asker);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path.join('.')} ${message}`);
}
