import fc from 'fast-check';
import { contract } from '../../src/contract/index.js';
import { createOpenApiDocument } from '../../src/contract/openapi.js';
import { listOperations } from '../../src/contract/operation.js';
import { toJsonSchema } from '../../src/contract/schema/json-schema.js';

/** A schema of the OpenAPI document. */
// biome-ignore lint/suspicious/noExplicitAny: JSON Schema is read here keyword by keyword
export type Schema = Record<string, any>;

/** The OpenAPI document. */
export const document = createOpenApiDocument(contract, { version: '1' }) as Schema;

/** Those of requests with defaults have no name in the document. */
const definitions: Schema = Object.assign(
  {},
  ...Array.from(listOperations(contract), ([, { body }]) => body && toJsonSchema(body, 'input').$defs),
  document.components.schemas,
);

/** Values for a field that no schema can tell, such as the id of something that exists. */
export type Special = (field: string, schema: Schema) => fc.Arbitrary<unknown> | undefined;

/** Values that a schema of the document allows, but for the rules between fields. */
export function createValues(
  schema: Schema,
  special: Special = () => undefined,
  field = '',
): fc.Arbitrary<unknown> {
  const given = special(field, schema);
  if (given) return given;
  if (schema.$ref) return createValues(definitions[schema.$ref.split('/').at(-1)], special, field);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf?.some((one: Schema) => one.type ?? one.$ref)) {
    return fc.oneof(...schema.anyOf.map((one: Schema) => createValues(one, special, field)));
  }
  const types: string[] = [schema.type ?? 'object'].flat();
  return fc.oneof(...types.map((type) => createTyped(type, schema, special, field)));
}

function createTyped(type: string, schema: Schema, special: Special, field: string): fc.Arbitrary<unknown> {
  const { minimum: min, maximum: max } = schema;
  if (type === 'null') return fc.constant(null);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: min ?? -1000, max: max ?? 2 ** 31 - 1 });
  if (type === 'number') return fc.double({ min: min ?? -1000, max: max ?? 1000, noNaN: true });
  if (type === 'string') return createText(schema);
  if (type === 'array') {
    const { minItems: minLength = 0, maxItems = 4 } = schema;
    const items = createValues(schema.items ?? {}, special, field);
    return fc.array(items, { minLength, maxLength: Math.max(minLength, Math.min(4, maxItems)) });
  }
  return createObject(schema, special);
}

function createText({ format, pattern, minLength = 0, maxLength = 2000 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') {
    const [min, max] = [new Date('2020-01-01'), new Date('2040-01-01')];
    return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString());
  }
  if (format === 'uri') return fc.webUrl();
  if (pattern) {
    return fc
      .stringMatching(new RegExp(pattern))
      .filter(({ length }) => length >= minLength && length <= maxLength);
  }
  const size = { minLength, maxLength: Math.max(minLength, Math.min(40, maxLength)) };
  return fc.oneof(
    { weight: 5, arbitrary: fc.string(size) },
    {
      weight: 1,
      arbitrary: fc.string({ ...size, unit: 'grapheme' }).filter(({ length }) => length <= maxLength),
    },
    { weight: 1, arbitrary: fc.constant('x'.repeat(Math.max(minLength, Math.min(maxLength, 3000)))) },
  );
}

function createObject(schema: Schema, special: Special): fc.Arbitrary<unknown> {
  const required: string[] = schema.required ?? [];
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([name, one]) => {
    const value = createValues(one, special, name);
    if (required.includes(name)) return [name, value] as const;
    const weight = one.readOnly ? 30 : 2;
    const absent = { weight, arbitrary: fc.constant(undefined) };
    return [name, fc.oneof({ withCrossShrink: true }, absent, { weight: 1, arbitrary: value })] as const;
  });
  const declared = fc.record(Object.fromEntries(fields)).map(dropUndefined);
  if (typeof schema.additionalProperties !== 'object') return declared;
  const names = createText(schema.propertyNames ?? { maxLength: 10 });
  const others = fc.dictionary(names, createValues(schema.additionalProperties, special), { maxKeys: 3 });
  return fc.tuple(declared, others).map(([one, other]) => ({ ...other, ...one }));
}

const dropUndefined = (value: object) =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));

/** Any JSON, with the names and values that parsers trip over. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(
    fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'id',
      'name',
      'node',
      'version',
      'tags',
      'status',
      '',
    ),
    fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('a\0', '\ud800', 1e308, -1, 'é'.repeat(600), null, [], {}),
    ),
  ),
);

/** Replaces, drops or adds one value somewhere inside of sound JSON. */
export function mutateJson(sound: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(sound, fc.array(fc.nat(9), { maxLength: 5 }), anyJson, fc.boolean())
    .map(([value, way, other, drop]) => replaceAt(value, way, drop ? undefined : other));
}

function replaceAt(value: unknown, way: readonly number[], other: unknown): unknown {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const [step, ...rest] = way;
  if (step === undefined || entries.length === 0) return other;
  const [name, inner] = entries[step % entries.length] as [string, unknown];
  const replaced = replaceAt(inner, rest, other);
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === name ? replaced : one));
  return { ...(value as object), [name]: replaced };
}
