import { z } from 'zod';
import { contract } from './index.js';
import { isRead, listOperations, type Operation } from './operation.js';
import { removeLimits, toJsonSchema } from './schema/json-schema.js';
import type { JsonSchema } from './schema/schema-types.js';
import { UNTRUSTED_TEXT } from './tool-texts.js';

/** What an agent can call, as the Model Context Protocol describes it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean };
}

/** The input of an operation, by the parts of its request. */
export interface ToolInput {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

// Decided: an agent gets neither secrets nor what admins do, however it is started.
const isOffered = ({ who, secret, credentialInBody }: Operation) =>
  !secret && !credentialInBody && !who.startsWith('admin');

/** Whether an API key passes the rule of the operation, which the service applies: see Who. */
export const isOpenToKeys = ({ who, task }: Operation) =>
  who === 'anyone' || who === 'bearer' || (who === 'person' && task !== undefined);

/** The operations that can be tools, by their names: `node_get` is `node.get`. */
export const toolOperations: ReadonlyMap<string, readonly [name: string, operation: Operation]> = new Map(
  [...listOperations(contract)]
    .filter(([, operation]) => isOffered(operation))
    .map(([name, operation]) => [name.replaceAll('.', '_'), [name, operation] as const]),
);

/**
 * Chooses tools: those that are offered without being asked for, and those that patterns such as `node_get` or
 * `publisher_*` name.
 * @returns the names, and the patterns that match nothing
 */
export function chooseTools(
  all: readonly (readonly [name: string, isDefault: boolean])[],
  patterns: readonly string[],
): { readonly names: readonly string[]; readonly unknown: readonly string[] } {
  const isMatch = (name: string, pattern: string) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  const chosen = all.filter(
    ([name, isDefault]) => isDefault || patterns.some((pattern) => isMatch(name, pattern)),
  );
  const unknown = patterns.filter((pattern) => !all.some(([name]) => isMatch(name, pattern)));
  return { names: chosen.map(([name]) => name), unknown };
}

export function describeTool(name: string, operation: Operation): Tool {
  const { summary, task, who, destroys, response } = operation;
  const { description, ...inputSchema } = describeInput(operation);
  const output = response && raise(removeLimits(toJsonSchema(response, 'output')));
  const sentences = [
    `${summary}.`,
    task && 'Costs credits. The answer has the id of the task, which goes on until it has ended.',
    destroys?.loss,
    description,
    who === 'anyone' && isRead(operation) && UNTRUSTED_TEXT,
  ];
  return {
    name,
    description: sentences.filter(Boolean).join(' '),
    inputSchema,
    ...(output?.type === 'object' && { outputSchema: output }),
    annotations: {
      readOnlyHint: isRead(operation),
      ...(!isRead(operation) && { destructiveHint: destroys !== undefined }),
    },
  };
}

/** The fields of a body are beside each other, unless the path or the query have fields as well. */
const hasOwnFields = ({ params, query, body }: Operation) =>
  body === undefined || !('shape' in body) || Object.keys({ ...params.shape, ...query?.shape }).length > 0;

function describeInput(operation: Operation): JsonSchema {
  const { params, query, body } = operation;
  const whole = hasOwnFields(operation)
    ? z.object({ ...params.shape, ...query?.shape, ...(body && { body }) })
    : (body as z.ZodType);
  // Vendors of models refuse these at the top. The service checks them anyway, and the description says them.
  const { allOf: _, anyOf: __, oneOf: ___, examples: ____, ...schema } = raise(toJsonSchema(whole, 'input'));
  return { ...schema, type: 'object' };
}

/** Writes a schema that only refers to one of its definitions as that definition. */
function raise(schema: JsonSchema): JsonSchema {
  const { $ref, $defs, ...rest } = schema;
  if (typeof $ref !== 'string') return schema;
  const name = $ref.replace('#/$defs/', '');
  const { [name]: own, ...others } = $defs as Record<string, JsonSchema>;
  return { ...own, ...rest, ...(Object.keys(others).length > 0 && { $defs: others }) };
}

export function readToolInput(operation: Operation, given: Readonly<Record<string, unknown>>): ToolInput {
  if (!hasOwnFields(operation)) return { params: {}, query: {}, body: given };
  const { body, ...fields } = given;
  const entries = Object.entries(fields);
  const isParam = ([name]: readonly [string, unknown]) => Object.hasOwn(operation.params.shape, name);
  return {
    params: Object.fromEntries(entries.filter(isParam)),
    query: Object.fromEntries(entries.filter((entry) => !isParam(entry))),
    ...(body !== undefined && { body }),
  };
}
