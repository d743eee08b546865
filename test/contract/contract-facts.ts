import type { z } from 'zod';
import { contract } from '../../src/contract/index.js';
import { type JsonSchema, jsonSchema } from '../../src/contract/json-schema.js';
import { type Operation, operations } from '../../src/contract/operation.js';
import { rulesOf } from '../../src/contract/rules/rule.js';

/** The facts of the contract: its operations but extensions, and the resources that the table names. */
export function factsOfContract(resources: ReadonlySet<string>): Set<string> {
  const facts = new Set<string>();
  const seen = new Map<string, JsonSchema>();
  for (const [name, operation] of operations(contract)) {
    if (operation.extension) continue;
    for (const fact of factsOfOperation(operation, resources, seen)) facts.add(`${name} ${fact}`);
  }
  for (const [name, { definitions, ...schema }] of seen) {
    for (const fact of factsOfFields('field', schema, definitions as Definitions, resources)) {
      facts.add(`${name} ${fact}`);
    }
  }
  return facts;
}

type Definitions = Readonly<Record<string, JsonSchema>>;

function factsOfOperation(
  { method, path, auth, status, query, body, response }: Operation,
  resources: ReadonlySet<string>,
  seen: Map<string, JsonSchema>,
): string[] {
  const facts = [`${method} ${path}`];
  if (auth === 'bearer') facts.push('who: bearer');
  if (status) facts.push(`status: ${status}`);
  const parts = [
    ['query', query, 'input'],
    ['body', body, 'input'],
    ['answer', response, 'output'],
  ] as const;
  for (const [part, schema, io] of parts) {
    if (!schema) continue;
    const written = jsonSchema(schema as z.ZodType, io);
    const definitions = (written.$defs ?? {}) as Definitions;
    for (const [name, definition] of Object.entries(definitions)) {
      if (resources.has(name)) seen.set(name, { ...definition, definitions });
    }
    facts.push(...factsOfFields(part, resolve(written, definitions), definitions, resources));
    if (io === 'input') facts.push(...rulesOf(schema as z.ZodType).flatMap(factsOfRule));
  }
  return facts;
}

function factsOfRule({ sentence }: { sentence: string }): string[] {
  if (!sentence.startsWith('By model: ')) return [`rule: ${sentence}`];
  const models = sentence.slice('By model: '.length, -1).split('; ');
  return models.flatMap((model) => {
    const [, name, durations, sizes] = /^(\S+) (.*?) s, (.*)$/.exec(model) as string[] as [
      string,
      string,
      string,
      string,
    ];
    return [`rule: duration of ${name}: ${durations}`, `rule: resolution of ${name}: ${sizes}`];
  });
}

function factsOfFields(
  place: string,
  object: JsonSchema,
  definitions: Definitions,
  resources: ReadonlySet<string>,
): string[] {
  const required = (object.required ?? []) as string[];
  if (!object.properties) return [`${place} .: ${typeOf(object, definitions, resources)}`];
  // In what is sent only: zod says the same of every object that is answered.
  const strict = place.startsWith('body') && object.additionalProperties === false;
  const fields = Object.entries(object.properties as Definitions).flatMap(([name, schema]) => {
    const at = `${place}${place.includes(' ') ? '.' : ' '}${name}`;
    const type = typeOf(schema, definitions, resources);
    const facts = [type, ...(required.includes(name) ? ['required'] : []), ...factsOf(schema, definitions)];
    const inner = type.endsWith('[]')
      ? resolve(schema.items as JsonSchema, definitions)
      : resolve(schema, definitions);
    const deeper =
      type.startsWith('object') && inner.properties
        ? factsOfFields(at + type.slice('object'.length), inner, definitions, resources)
        : [];
    return [...facts.map((fact) => `${at}: ${fact}`), ...deeper];
  });
  return strict ? [`${place}: no other fields`, ...fields] : fields;
}

function resolve(schema: JsonSchema, definitions: Definitions): JsonSchema {
  if (typeof schema.$ref !== 'string') return schema;
  const { $ref, ...own } = schema;
  return { ...definitions[($ref as string).replace('#/$defs/', '')], ...own };
}

function typeOf(schema: JsonSchema, definitions: Definitions, resources: ReadonlySet<string>): string {
  const name = typeof schema.$ref === 'string' ? schema.$ref.replace('#/$defs/', '') : '';
  if (resources.has(name)) return name;
  const { type, format, items } = resolve(schema, definitions);
  if (type === 'array') return `${typeOf(items as JsonSchema, definitions, resources)}[]`;
  return format === 'int32' ? 'int32' : String(type);
}

const int32Limits = [-(2 ** 31), 2 ** 31 - 1];

interface Written extends Record<string, unknown> {
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
}

/** What a schema says of its values, in the table's words; of a list's items after `each`. */
function factsOf(schema: JsonSchema, definitions: Definitions): string[] {
  const { items, ...own } = resolve(schema, definitions);
  const written = own as Written;
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format } = written;
  const facts: string[] = [];
  if (written.enum) facts.push(`one of ${written.enum.join(', ')}`);
  if (minimum !== undefined && maximum === undefined) facts.push(`at least ${minimum}`);
  if (maximum !== undefined && minimum === undefined) facts.push(`at most ${maximum}`);
  if (minimum !== undefined && maximum !== undefined && !(format === 'int32' && minimum === int32Limits[0])) {
    facts.push(`${minimum} to ${maximum}`);
  }
  if (minLength !== undefined) facts.push(`at least ${minLength} characters`);
  if (maxLength !== undefined) facts.push(`at most ${maxLength} characters`);
  if (minItems !== undefined) facts.push(`at least ${minItems} items`);
  if (maxItems !== undefined) facts.push(`at most ${maxItems} items`);
  if (written.default !== undefined) facts.push(`default ${String(written.default)}`);
  if (format && format !== 'int32') facts.push(format);
  if (written.pattern) facts.push('of a form');
  if (written.deprecated) facts.push('deprecated');
  if (written.readOnly) facts.push('read-only');
  if (written.writeOnly) facts.push('secret');
  const item = items ? factsOf(items as JsonSchema, definitions) : [];
  return [...facts, ...item.map((fact) => `each ${fact}`)];
}
