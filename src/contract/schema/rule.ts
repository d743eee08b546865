import { z } from 'zod';
import type { Limits } from './limits.js';
import type { Text } from './message.js';
import type { JsonSchema, Problem } from './schema-types.js';

/** What a check needs to know beside the value. */
export interface RuleContext {
  /** The base address of the service; if absent, rules that depend on it are left to the service. */
  readonly service?: string;
  /** The limits of the service. Default: those of limits.ts. */
  readonly limits?: Readonly<Limits>;
}

/** The fields of an object, of any type. */
export type FieldValues = Readonly<Record<string, unknown>>;

/** A condition on the fields of an object that no keyword of a schema can check. */
export interface Rule {
  readonly fields: readonly string[];
  /** A sentence for help and documents. */
  readonly sentence: Text;
  /** JSON Schema keywords for the same condition, as far as they can express it. */
  readonly schema?: JsonSchema;
  /** Present if the rule is that both fields are required. */
  readonly together?: readonly [one: string, other: string];
  /** Present if the fields of the rule are images. */
  readonly images?: true;
  /** Finds what breaks the rule. The value may be invalid otherwise: fields of another type are ignored. */
  problems(value: FieldValues, context: RuleContext): Problem[];
}

// A registry of zod instead of a map: `.meta()` copies a schema, and a registry follows the copies.
const registry = z.registry<{ rules: readonly Rule[] }>();

/** Adds rules to an object schema, for `check()`. They do not apply where another schema contains this one. */
export function withRules<Schema extends z.ZodObject>(schema: Schema, ...rules: Rule[]): Schema {
  const ruled = schema.clone();
  registry.add(ruled, { rules });
  return ruled;
}

export function getRules(schema: z.core.$ZodType): readonly Rule[] {
  return registry.get(schema as z.ZodType)?.rules ?? [];
}

/** Finds everything in a value that breaks a rule of its schema. */
export function findBrokenRules(schema: z.ZodType, value: unknown, context: RuleContext): Problem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return getRules(schema).flatMap((rule) => rule.problems(value as FieldValues, context));
}
