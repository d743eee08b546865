import type { z } from 'zod';
import { contract } from '../../src/contract/index.js';
import { listOperations, type Operation } from '../../src/contract/operation.js';
import { toJsonSchema } from '../../src/contract/schema/json-schema.js';
import { getRules, type Rule } from '../../src/contract/schema/rule.js';
import type { JsonSchema } from '../../src/contract/schema/schema-types.js';

/** Lists the facts of the contract: its operations except extensions, and the resources of the table. */
export function listContractFacts(resources: ReadonlySet<string>): Set<string> {
  const facts = new Set<string>();
  const seen = new Map<string, JsonSchema>();
  for (const [name, operation] of listOperations(contract)) {
    if (operation.extension) continue;
    for (const fact of listOperationFacts(operation, resources, seen)) facts.add(`${name} ${fact}`);
  }
  for (const [name, { definitions, ...schema }] of seen) {
    for (const fact of listFieldFacts('field', schema, definitions as Definitions, resources)) {
      facts.add(`${name} ${fact}`);
    }
  }
  return facts;
}

type Definitions = Readonly<Record<string, JsonSchema>>;

function listOperationFacts(
  { method, path, who, status, query, body, response }: Operation,
  resources: ReadonlySet<string>,
  seen: Map<string, JsonSchema>,
): string[] {
  const facts = [`${method} ${path}`];
  if (who !== 'anyone') facts.push('who: bearer');
  if (status) facts.push(`status: ${status}`);
  const parts = [
    ['query', query, 'input'],
    ['body', body, 'input'],
    ['answer', response, 'output'],
  ] as const;
  for (const [part, schema, io] of parts) {
    if (!schema) continue;
    const written = toJsonSchema(schema as z.ZodType, io);
    const definitions = (written.$defs ?? {}) as Definitions;
    for (const [name, definition] of Object.entries(definitions)) {
      if (resources.has(name)) seen.set(name, { ...definition, definitions });
    }
    facts.push(...listFieldFacts(part, resolveReference(written, definitions), definitions, resources));
    if (io === 'input') facts.push(...getRules(schema as z.ZodType).flatMap(listRuleFacts));
  }
  return facts;
}

function listRuleFacts(rule: Rule): string[] {
  const sentence = String(rule.sentence);
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

function listFieldFacts(
  place: string,
  object: JsonSchema,
  definitions: Definitions,
  resources: ReadonlySet<string>,
): string[] {
  const required = (object.required ?? []) as string[];
  if (!object.properties) return [`${place} .: ${describeType(object, definitions, resources)}`];
  // Only in requests: zod says the same about every object in a response.
  const strict = place.startsWith('body') && object.additionalProperties === false;
  const fields = Object.entries(object.properties as Definitions).flatMap(([name, schema]) => {
    const at = `${place}${place.includes(' ') ? '.' : ' '}${name}`;
    const type = describeType(schema, definitions, resources);
    const facts = [
      type,
      ...(required.includes(name) ? ['required'] : []),
      ...listValueFacts(schema, definitions),
    ];
    const inner = type.endsWith('[]')
      ? resolveReference(schema.items as JsonSchema, definitions)
      : resolveReference(schema, definitions);
    const deeper =
      type.startsWith('object') && inner.properties
        ? listFieldFacts(at + type.slice('object'.length), inner, definitions, resources)
        : [];
    return [...facts.map((fact) => `${at}: ${fact}`), ...deeper];
  });
  return strict ? [`${place}: no other fields`, ...fields] : fields;
}

function resolveReference(schema: JsonSchema, definitions: Definitions): JsonSchema {
  if (typeof schema.$ref !== 'string') return schema;
  const { $ref, ...own } = schema;
  return { ...definitions[($ref as string).replace('#/$defs/', '')], ...own };
}

function describeType(schema: JsonSchema, definitions: Definitions, resources: ReadonlySet<string>): string {
  const name = typeof schema.$ref === 'string' ? schema.$ref.replace('#/$defs/', '') : '';
  if (resources.has(name)) return name;
  const { type, format, items } = resolveReference(schema, definitions);
  if (type === 'array') return `${describeType(items as JsonSchema, definitions, resources)}[]`;
  return format === 'int32' ? 'int32' : String(type);
}

const INT32_LIMITS = [-(2 ** 31), 2 ** 31 - 1];

interface ValueSchema extends Record<string, unknown> {
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
}

/**
 * Lists what a schema says about its values, in the words of the table; about the items of a list after
 * `each`.
 */
function listValueFacts(schema: JsonSchema, definitions: Definitions): string[] {
  const { items, ...own } = resolveReference(schema, definitions);
  const written = own as ValueSchema;
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format } = written;
  const facts: string[] = [];
  if (written.enum) facts.push(`one of ${written.enum.join(', ')}`);
  if (minimum !== undefined && maximum === undefined) facts.push(`at least ${minimum}`);
  if (maximum !== undefined && minimum === undefined) facts.push(`at most ${maximum}`);
  if (
    minimum !== undefined &&
    maximum !== undefined &&
    !(format === 'int32' && minimum === INT32_LIMITS[0])
  ) {
    facts.push(`${minimum} to ${maximum}`);
  }
  if (minLength !== undefined) facts.push(`at least ${minLength} characters`);
  if (maxLength !== undefined) facts.push(`at most ${maxLength} characters`);
  if (minItems !== undefined) facts.push(`at least ${minItems} items`);
  // Every list has a maximum of 1000, which is not a fact about one of them.
  if (maxItems !== undefined && maxItems < 1000) facts.push(`at most ${maxItems} items`);
  if (written.default !== undefined) facts.push(`default ${String(written.default)}`);
  if (format && format !== 'int32') facts.push(format);
  if (written.pattern) facts.push('of a form');
  if (written.deprecated) facts.push('deprecated');
  if (written.readOnly) facts.push('read-only');
  if (written.writeOnly) facts.push('secret');
  const item = items ? listValueFacts(items as JsonSchema, definitions) : [];
  return [...facts, ...item.map((fact) => `each ${fact}`)];
}
