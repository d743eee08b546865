import { z } from 'zod';
import { getMaxEntries } from './entries.js';
import { getExplanation } from './explain.js';
import { type Names, render } from './message.js';
import { getRules } from './rule.js';
import type { JsonSchema } from './schema-types.js';

/**
 * Converts a schema to JSON Schema, for requests (`input`) or responses (`output`).
 * @param names of fields and values in descriptions
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output', names?: Names): JsonSchema {
  const { $schema: _, ...written } = z.toJSONSchema(schema, {
    io,
    override: ({ zodSchema, jsonSchema: one }) => {
      removeRedundantKeywords(one);
      const explanation = names && getExplanation(zodSchema);
      if (explanation && one.description === String(explanation))
        one.description = render(explanation, names);
      if (io === 'input') addRules(one, zodSchema, names);
      if (io === 'input') addMaximum(one, zodSchema);
    },
  });
  return written;
}

/** Removes redundant parts: the range of safe integers, and the regular expression of `date-time`. */
function removeRedundantKeywords(written: Record<string, unknown>): void {
  if (written.minimum === Number.MIN_SAFE_INTEGER) delete written.minimum;
  if (written.maximum === Number.MAX_SAFE_INTEGER) delete written.maximum;
  if (written.format === 'date-time') delete written.pattern;
}

function addMaximum(written: Record<string, unknown>, schema: z.core.$ZodType): void {
  const max = getMaxEntries(schema);
  if (max !== undefined) written[written.type === 'array' ? 'maxItems' : 'maxProperties'] = max;
}

/** Adds what zod does not know: the sentences of rules to the description, their keywords as `allOf`. */
function addRules(written: Record<string, unknown>, schema: z.core.$ZodType, names?: Names): void {
  const rules = getRules(schema);
  if (rules.length === 0) return;
  written.description = [written.description, ...rules.map(({ sentence }) => render(sentence, names))]
    .filter(Boolean)
    .join(' ');
  const keywords = rules.flatMap(({ schema: keyword }) => (keyword ? [keyword] : []));
  if (keywords.length > 0) written.allOf = keywords;
}

/** A field that is added later does not break programs which read an answer. */
export function removeLimits(schema: object): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (name, value) =>
      name === 'additionalProperties' && value === false ? undefined : value,
    ),
  );
}
