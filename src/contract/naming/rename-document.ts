import type { Naming } from './naming.js';

type Json = Record<string, unknown>;

/** Keywords whose strings are values. */
const VALUE_KEYWORDS = ['enum', 'const', 'default', 'examples'];

/** Gives an OpenAPI document of the contract the names of another service, with the paths that its naming adds. */
export function renameDocument(naming: Naming, document: Json): Json {
  const paths: Json = {};
  for (const [path, methods] of Object.entries(document.paths as Record<string, Json>)) {
    paths[naming.renamePath(path)] = Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, wrap(naming, operation as Json)]),
    );
  }
  for (const { regen, real, body, answer } of naming.rewrites) {
    const [method = '', path = ''] = regen.split(' ');
    const [realMethod = '', realPath = ''] = real.split(' ');
    const operation = (document.paths as Record<string, Json>)[path]?.[method.toLowerCase()] as
      | Json
      | undefined;
    if (!operation) continue;
    const { requestBody, operationId, ...rest } = operation;
    const copy = {
      ...rest,
      operationId: `${operationId}.${realMethod.toLowerCase()}`,
      ...(requestBody !== undefined && body === undefined && { requestBody }),
      ...(answer !== undefined && { responses: pickAnswer(operation.responses as Json, answer) }),
    };
    paths[realPath] = { ...(paths[realPath] as Json), [realMethod.toLowerCase()]: copy };
  }
  return renameSchemas(naming, { ...document, paths }) as Json;
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

function pickAnswer(responses: Json, field: string): Json {
  return mapSchema(
    responses,
    (schema) => (schema.properties as Record<string, Json> | undefined)?.[field] ?? schema,
  );
}

/** Changes the schema of the answers that have one. */
function mapSchema(responses: Json, change: (schema: Json) => Json): Json {
  const entries = Object.entries(responses as Record<string, Json>).map(([status, response]) => {
    const content = response.content as { 'application/json': { schema: Json } } | undefined;
    if (!content) return [status, response];
    const schema = change(content['application/json'].schema);
    return [status, { ...response, content: { 'application/json': { schema } } }];
  });
  return Object.fromEntries(entries);
}

/** @param within the keyword that holds the value */
function renameSchemas(naming: Naming, value: unknown, within = ''): unknown {
  if (typeof value === 'string') {
    const isText = ['description', 'summary', ...VALUE_KEYWORDS, 'required'].includes(within);
    return isText ? naming.speak(value) : value;
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
