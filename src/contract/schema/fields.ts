import type { z } from 'zod';
import { toJsonSchema } from './json-schema.js';
import type { Names } from './message.js';
import type { JsonSchema } from './schema-types.js';

/** What a command line, a form or a query string has to know about a field. Plain data. */
export interface FieldDescription {
  /** `string`, `integer`, `number`, `boolean`, `array` or `object`; several for a union. */
  readonly type?: string | readonly string[] | undefined;
  readonly required: boolean;
  readonly description?: string;
  readonly enum?: readonly (string | number | boolean)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  /** What the service assumes if the field is absent. Shown, never sent. */
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** What its number counts, if a text with another unit is accepted too. */
  readonly unit?: string;
  /** The default and an example of a value that is converted. */
  readonly shown?: { readonly default?: unknown; readonly example?: unknown };
  readonly deprecated?: boolean;
  /** Set by the service, and ignored in requests. */
  readonly readOnly?: boolean;
  /** A secret: never shown, and never the value of a flag. */
  readonly writeOnly?: boolean;
  /** For a list: one item. */
  readonly items?: FieldDescription;
  /** For an object with known fields. */
  readonly fields?: Readonly<Record<string, FieldDescription>>;
}

const COPIED_KEYWORDS = [
  ...['description', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'],
  ...['format', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'unit', 'shown'],
];

/**
 * Lists the fields of an object schema, in the order of declaration.
 * @param names of fields and values in descriptions
 */
export function describeFields(schema: z.ZodObject, names?: Names): Record<string, FieldDescription> {
  const root = toJsonSchema(schema, 'input', names);
  const definitions = (root.$defs ?? {}) as Record<string, JsonSchema>;
  return toFields(resolveReference(root, definitions), definitions, []) ?? {};
}

/** @param within the definitions that were entered, so that a schema that contains itself ends */
function toFields(
  object: JsonSchema,
  definitions: Record<string, JsonSchema>,
  within: readonly unknown[],
): Record<string, FieldDescription> | undefined {
  if (!object.properties) return mergeAlternatives(object, definitions, within);
  const required = new Set((object.required ?? []) as string[]);
  const fields = Object.entries(object.properties as Record<string, JsonSchema>).map(
    ([name, field]) => [name, toField(field, required.has(name), definitions, within)] as const,
  );
  return Object.fromEntries(fields);
}

/** A union of objects has the fields of all of them. */
function mergeAlternatives(
  { oneOf }: JsonSchema,
  definitions: Record<string, JsonSchema>,
  within: readonly unknown[],
): Record<string, FieldDescription> | undefined {
  const merged: Record<string, FieldDescription> = {};
  for (const alternative of (oneOf ?? []) as JsonSchema[]) {
    const fields = toFields(resolveReference(alternative, definitions), definitions, within) ?? {};
    for (const [name, field] of Object.entries(fields)) {
      const before = merged[name];
      merged[name] = before ? mergeFields(before, field) : field;
    }
  }
  return Object.keys(merged).length > 0 ? merged : undefined;
}

function mergeFields(one: FieldDescription, other: FieldDescription): FieldDescription {
  const { default: _, ...merged } = { ...one, ...other };
  const descriptions = new Set([one.description, other.description].filter(Boolean));
  return {
    ...merged,
    required: one.required && other.required,
    ...(one.default === other.default && one.default !== undefined && { default: one.default }),
    ...(one.enum && other.enum && { enum: [...new Set([...one.enum, ...other.enum])] }),
    ...(descriptions.size > 0 && { description: [...descriptions].join('; ') }),
  };
}

function toField(
  schema: JsonSchema,
  required: boolean,
  definitions: Record<string, JsonSchema>,
  within: readonly unknown[],
): FieldDescription {
  const field = resolveReference(schema, definitions);
  const description: Record<string, unknown> = { required };
  const types = listTypes(field, definitions);
  if (types.length > 0) description.type = types.length === 1 ? types[0] : types;
  if (field.enum) description.enum = field.enum;
  else if (field.const !== undefined) description.enum = [field.const];
  for (const fact of COPIED_KEYWORDS) if (field[fact] !== undefined) description[fact] = field[fact];
  if (schema.$ref !== undefined && within.includes(schema.$ref))
    return description as unknown as FieldDescription;
  const inside = schema.$ref === undefined ? within : [...within, schema.$ref];
  if (field.items) description.items = toField(field.items as JsonSchema, true, definitions, inside);
  const fields = toFields(field, definitions, inside);
  if (fields) description.fields = fields;
  return description as unknown as FieldDescription;
}

/** Replaces a reference by its definition, with the keywords beside it (`readOnly`, a description) on top. */
function resolveReference(schema: JsonSchema, definitions: Record<string, JsonSchema>): JsonSchema {
  if (typeof schema.$ref !== 'string') return schema;
  const { $ref, ...own } = schema;
  return { ...definitions[($ref as string).replace('#/$defs/', '')], ...own };
}

function listTypes(schema: JsonSchema, definitions: Record<string, JsonSchema>): string[] {
  const alternatives = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (alternatives) {
    return [
      ...new Set(alternatives.flatMap((one) => listTypes(resolveReference(one, definitions), definitions))),
    ];
  }
  if (typeof schema.type === 'string') return [schema.type];
  return (schema.type as string[] | undefined) ?? (schema.const === undefined ? [] : [typeof schema.const]);
}
