import { z } from 'zod';

/** A JSON Schema (draft 2020-12) as plain data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Writes a schema as JSON Schema: what is sent (`input`, defaults optional) or what is answered (`output`). */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...written } = z.toJSONSchema(schema, {
    io,
    override: (at) => simplify(at.jsonSchema),
  });
  return written;
}

/** Removes what only restates JavaScript: the range of safe integers, and the expression behind `date-time`. */
function simplify(written: Record<string, unknown>): void {
  if (written.minimum === Number.MIN_SAFE_INTEGER) delete written.minimum;
  if (written.maximum === Number.MAX_SAFE_INTEGER) delete written.maximum;
  if (written.format === 'date-time') delete written.pattern;
}
