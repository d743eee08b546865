import { createOpenApiDocument, type DocumentOptions } from '../openapi.js';
import type { OperationTree } from '../operation.js';
import { adaptOperation } from './adapt-operation.js';
import type { Naming } from './naming.js';
import type { Rewrite } from './naming-map.js';

type Json = Record<string, unknown>;

/** Keywords whose strings are values. */
const VALUE_KEYWORDS = ['enum', 'const', 'default', 'examples'];

/** Writes the OpenAPI document of the contract in the names of another service, with the paths that its naming adds. */
export function createNamedDocument(naming: Naming, tree: OperationTree, options: DocumentOptions): Json {
  const document = createOpenApiDocument(tree, {
    ...options,
    names: naming.names,
    adapt: (name, operation) => adaptOperation(naming, name, operation),
  });
  const described = document.paths as Record<string, Record<string, Json>>;
  const { schemas } = document.components as { schemas: Record<string, Json> };
  const adapt = (operation: Json) => renameOwnFields(naming, schemas, wrap(naming, operation));
  const paths: Record<string, Record<string, Json>> = {};
  for (const [path, methods] of Object.entries(described)) {
    paths[naming.renamePath(path)] = Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, adapt(operation)]),
    );
  }
  for (const [index, rewrite] of naming.rewrites.entries()) {
    const [method = '', path = ''] = rewrite.regen.split(' ');
    const [realMethod = '', realPath = ''] = rewrite.real.split(' ');
    const operation = described[path]?.[method.toLowerCase()];
    // A path that differs by a slash at its end is no other path for most readers of documents.
    if (!operation || realPath === `${path}/`) continue;
    const copy = adapt(rewriteOperation(operation, rewrite));
    // Unique, because no operation of the contract has a number in its name.
    const operationId = `${operation.operationId}.${index + 1}`;
    paths[realPath] = { ...paths[realPath], [realMethod.toLowerCase()]: { ...copy, operationId } };
  }
  return renameSchemas(naming, { ...document, paths }) as Json;
}

/** Describes an operation as it is at a path that the naming adds. */
function rewriteOperation(operation: Json, { real, body, answer }: Rewrite): Json {
  const { requestBody, parameters = [], ...rest } = operation;
  const declared = (parameters as Json[]).map(({ name }) => name);
  const added = [...real.matchAll(/\{(\w+)\}/g)]
    .filter(([, name]) => !declared.includes(name))
    .map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const all = [...added, ...(parameters as Json[])];
  return {
    ...rest,
    ...(all.length > 0 && { parameters: all }),
    ...(requestBody !== undefined && body === undefined && { requestBody }),
    ...(answer !== undefined && { responses: pickAnswer(operation.responses as Json, answer) }),
  };
}

function wrap({ behaviors }: Naming, operation: Json): Json {
  const wrapper = behaviors.wrappedAnswers?.[operation.operationId as string];
  if (wrapper === undefined) return operation;
  const responses = mapSchema(operation.responses as Json, (schema) => ({
    type: 'object',
    properties: { [wrapper]: schema },
    required: [wrapper],
  }));
  return { ...operation, responses };
}

/** Writes the fields that have another name in this operation only, and the schemas that hold them, in place. */
function renameOwnFields(naming: Naming, schemas: Readonly<Record<string, Json>>, operation: Json): Json {
  const words = naming.listOwnFields(operation.operationId as string);
  if (Object.keys(words).length === 0) return operation;
  const rename = (name: string) => (Object.hasOwn(words, name) ? (words[name] as string) : name);
  const inPlace = (schema: Json): Json =>
    JSON.parse(JSON.stringify(schema), (key, value) => {
      if (typeof value?.$ref === 'string') return inPlace(schemas[value.$ref.split('/').at(-1)] as Json);
      if (key === 'required' && Array.isArray(value)) return value.map(rename);
      if (key !== 'properties') return value;
      return Object.fromEntries(Object.entries(value).map(([name, field]) => [rename(name), field]));
    });
  const { requestBody, responses } = operation as { requestBody?: Json; responses: Record<string, Json> };
  return {
    ...operation,
    ...(requestBody && { requestBody: mapContent(requestBody, inPlace) }),
    responses: mapSchema(responses, inPlace),
  };
}

function pickAnswer(responses: Json, field: string): Json {
  return mapSchema(
    responses,
    (schema) => (schema.properties as Record<string, Json> | undefined)?.[field] ?? schema,
  );
}

/** Changes the schema of the answers that have one. */
function mapSchema(responses: Json, change: (schema: Json) => Json): Json {
  const entries = Object.entries(responses as Record<string, Json>);
  return Object.fromEntries(entries.map(([status, response]) => [status, mapContent(response, change)]));
}

function mapContent(message: Json, change: (schema: Json) => Json): Json {
  const content = message.content as { 'application/json': { schema: Json } } | undefined;
  if (!content) return message;
  return {
    ...message,
    content: { 'application/json': { schema: change(content['application/json'].schema) } },
  };
}

/** @param within the keyword that holds the value */
function renameSchemas(naming: Naming, value: unknown, within = ''): unknown {
  if (typeof value === 'string') {
    if (within === 'required') return naming.translateField(value);
    return VALUE_KEYWORDS.includes(within) ? naming.translateValue(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => renameSchemas(naming, item, within));
  if (typeof value !== 'object' || value === null) return value;
  const isParameter = (value as Json).in === 'query';
  const entries = Object.entries(value).map(([key, inner]) => [
    within === 'properties' ? naming.translateField(key) : key,
    isParameter && key === 'name'
      ? naming.translateField(inner as string)
      : renameSchemas(naming, inner, key),
  ]);
  return Object.fromEntries(entries);
}
