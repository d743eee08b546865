import { z } from 'zod';
import { rulesOf } from './rules/rule.js';

/** A JSON Schema (draft 2020-12) as plain data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Writes a schema as JSON Schema: what is sent (`input`, defaults optional) or what is answered (`output`). */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...written } = z.toJSONSchema(schema, {
    io,
    override: ({ zodSchema, jsonSchema: one }) => {
      simplify(one);
      if (io === 'input') addRules(one, zodSchema);
    },
  });
  return written;
}

/** Removes what only restates JavaScript: the range of safe integers, and the expression behind `date-time`. */
function simplify(written: Record<string, unknown>): void {
  if (written.minimum === Number.MIN_SAFE_INTEGER) delete written.minimum;
  if (written.maximum === Number.MAX_SAFE_INTEGER) delete written.maximum;
  if (written.format === 'date-time') delete written.pattern;
}

/** Rules leave no trace in what zod writes: their sentences become the description, their keywords an `allOf`. */
function addRules(written: Record<string, unknown>, schema: z.core.$ZodType): void {
  const rules = rulesOf(schema);
  if (rules.length === 0) return;
  written.description = [written.description, ...rules.map(({ sentence }) => sentence)]
    .filter(Boolean)
    .join(' ');
  const keywords = rules.flatMap(({ schema: keyword }) => (keyword ? [keyword] : []));
  if (keywords.length > 0) written.allOf = keywords;
}
