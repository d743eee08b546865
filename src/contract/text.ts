import type { z } from 'zod';
import { type JsonSchema, jsonSchema } from './json-schema.js';

/** One field of a request as a command line, a form or a query string needs to know it. Plain data. */
export interface Leaf {
  /** JSON Schema's word: `string`, `integer`, `number`, `boolean`, `array`, `object`; several for a union. */
  readonly type?: string | readonly string[];
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
  /** What the service assumes where the field is absent. Shown, never sent. */
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly deprecated?: boolean;
  /** Set by the service and ignored in requests. */
  readonly readOnly?: boolean;
  /** A secret: never shown, never a flag's value. */
  readonly writeOnly?: boolean;
  /** Of a list: one item. */
  readonly items?: Leaf;
  /** Of an object with known fields. */
  readonly fields?: Readonly<Record<string, Leaf>>;
}

const facts = [
  ...['description', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'],
  ...['format', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
];

/** The fields of an object schema by name, in the order declared. Nested objects carry their own `fields`. */
export function leaves(schema: z.ZodObject): Record<string, Leaf> {
  const written = jsonSchema(schema, 'input');
  const definitions = (written.$defs ?? {}) as Record<string, JsonSchema>;
  return fieldsOf(resolve(written, definitions), definitions, []) ?? {};
}

/** `within` holds the definitions entered on the way, so that a schema that contains itself ends. */
function fieldsOf(
  object: JsonSchema,
  definitions: Record<string, JsonSchema>,
  within: readonly unknown[],
): Record<string, Leaf> | undefined {
  if (!object.properties) return undefined;
  const required = new Set((object.required ?? []) as string[]);
  const fields = Object.entries(object.properties as Record<string, JsonSchema>).map(
    ([name, field]) => [name, leafOf(field, required.has(name), definitions, within)] as const,
  );
  return Object.fromEntries(fields);
}

function leafOf(
  schema: JsonSchema,
  required: boolean,
  definitions: Record<string, JsonSchema>,
  within: readonly unknown[],
): Leaf {
  const field = resolve(schema, definitions);
  const leaf: Record<string, unknown> = { required };
  const types = typesOf(field, definitions);
  if (types.length > 0) leaf.type = types.length === 1 ? types[0] : types;
  if (field.enum) leaf.enum = field.enum;
  else if (field.const !== undefined) leaf.enum = [field.const];
  for (const fact of facts) if (field[fact] !== undefined) leaf[fact] = field[fact];
  if (schema.$ref !== undefined && within.includes(schema.$ref)) return leaf as unknown as Leaf;
  const inside = schema.$ref === undefined ? within : [...within, schema.$ref];
  if (field.items) leaf.items = leafOf(field.items as JsonSchema, true, definitions, inside);
  const fields = fieldsOf(field, definitions, inside);
  if (fields) leaf.fields = fields;
  return leaf as unknown as Leaf;
}

/** A field that only refers to a definition, with its own words (`readOnly`, a description) laid over it. */
function resolve(schema: JsonSchema, definitions: Record<string, JsonSchema>): JsonSchema {
  if (typeof schema.$ref !== 'string') return schema;
  const { $ref, ...own } = schema;
  return { ...definitions[($ref as string).replace('#/$defs/', '')], ...own };
}

function typesOf(schema: JsonSchema, definitions: Record<string, JsonSchema>): string[] {
  const alternatives = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (alternatives) {
    return [...new Set(alternatives.flatMap((one) => typesOf(resolve(one, definitions), definitions)))];
  }
  if (typeof schema.type === 'string') return [schema.type];
  return (schema.type as string[] | undefined) ?? (schema.const === undefined ? [] : [typeof schema.const]);
}

const whole = /^-?\d+$/;
const decimal = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * The value that a text means for a field: a number, a boolean, or the text. A text that is not of the field's
 * type comes back as it is, so that the schema stays the only judge and says what is wrong in its own words.
 * @example valueFromText({ type: 'integer' }, '12') // 12
 * @example valueFromText({ type: 'integer' }, '1e3') // '1e3', which the schema refuses
 */
export function valueFromText(leaf: Pick<Leaf, 'type'>, text: string): string | number | boolean {
  for (const type of [leaf.type ?? 'string'].flat()) {
    if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
    const number = (type === 'integer' && whole.test(text)) || (type === 'number' && decimal.test(text));
    // Adding 0 turns -0, which JSON and people write as 0, into 0.
    if (number && Number.isFinite(Number(text))) return Number(text) + 0;
  }
  return text;
}

/**
 * The value that one or several texts of the same name mean, as in a query string: a list's items each; a text
 * given twice for a field that is not a list stays a list, which the schema refuses.
 */
export function valueFromTexts(leaf: Pick<Leaf, 'type' | 'items'>, texts: readonly string[]): unknown {
  if (leaf.items) return texts.map((text) => valueFromText(leaf.items as Leaf, text));
  return texts.length === 1 ? valueFromText(leaf, texts[0] as string) : [...texts];
}
