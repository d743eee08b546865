import { z } from 'zod';
import type { JsonSchema } from '../json-schema.js';
import type { Problem } from '../problems.js';

/** What only the one who asks knows about a value. */
export interface Asker {
  /** The base address of the service that answers; absent: rules that depend on it are left to the service. */
  readonly service?: string;
  /** What a field is called where the problems are shown. Default: as in the interface. */
  readonly name?: (field: string) => string;
}

/** What holds between the fields of one object, or within a field, and no schema keyword can judge. */
export interface Rule {
  readonly fields: readonly string[];
  /** One sentence for help and documents. */
  readonly sentence: string;
  /** JSON Schema keywords that say the same, as far as that language can. */
  readonly schema?: JsonSchema;
  /** The rule says that its fields hold images. */
  readonly images?: true;
  /** What breaks the rule. The value may be wrong in any other way: fields of another type are not its matter. */
  problems(value: Readonly<Record<string, unknown>>, asker: Asker): Problem[];
}

// A registry of zod's rather than a map of ours: `.meta()` copies a schema, and a registry follows copies.
const book = z.registry<{ rules: readonly Rule[] }>();

/** Gives an object schema its rules. `check()` asks them; they do not reach into schemas that hold this one. */
export function withRules<Schema extends z.ZodObject>(schema: Schema, ...rules: Rule[]): Schema {
  const ruled = schema.clone();
  book.add(ruled, { rules });
  return ruled;
}

export function rulesOf(schema: z.core.$ZodType): readonly Rule[] {
  return book.get(schema as z.ZodType)?.rules ?? [];
}

/** Everything in a value that breaks a rule of its schema. */
export function brokenRules(schema: z.ZodType, value: unknown, asker: Asker): Problem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return rulesOf(schema).flatMap((rule) => rule.problems(value as Record<string, unknown>, asker));
}

/** `a`, `a or b`, `a, b or c`. */
export function listed(words: readonly (string | number)[], joint: 'and' | 'or'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`;
}
