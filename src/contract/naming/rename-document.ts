import { type Naming, VIDEO_FIELDS } from './naming.js';

type Json = Record<string, unknown>;

/** Keywords whose strings are values. */
const VALUE_KEYWORDS = ['enum', 'const', 'default', 'examples'];

/** Gives an OpenAPI document of the contract the names of another service, with the paths that its naming adds. */
export function renameDocument(naming: Naming, document: Json): Json {
  const paths: Json = {};
  for (const [path, methods] of Object.entries(document.paths as Record<string, Json>)) {
    paths[naming.renamePath(path)] = Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method,
        relaxBody(naming, wrap(naming, operation as Json)),
      ]),
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

/** Requires no more of a body than the service does at the paths of the other one. */
function relaxBody({ behaviors }: Naming, operation: Json): Json {
  const name = operation.operationId as string;
  const isExtend = behaviors.extendWithEither === true && name === 'video.extend';
  const optional = isExtend ? VIDEO_FIELDS : Object.keys(behaviors.assumedFields?.[name] ?? {});
  const ignored = behaviors.ignoredFields?.[name] ?? [];
  if (optional.length + ignored.length === 0) return operation;
  const requestBody = mapContent(operation.requestBody as Json, (schema) => {
    const { required = [], properties, ...rest } = isExtend ? requireEither(schema) : schema;
    const left = (required as string[]).filter((field) => !optional.includes(field));
    const unread = ignored.map((field) => [field, { description: 'Accepted, and changes nothing' }]);
    return {
      ...rest,
      properties: { ...(properties as Json), ...Object.fromEntries(unread) },
      ...(left.length > 0 && { required: left }),
    };
  });
  return { ...operation, requestBody };
}

function requireEither({ allOf: _, ...schema }: Json): Json {
  const text = JSON.stringify(schema)
    .replace(/; required together with \w+/g, '')
    .replace(/(\w+) and (\w+) are required together/, '$1 or $2 is required');
  return { ...JSON.parse(text), anyOf: VIDEO_FIELDS.map((field) => ({ required: [field] })) };
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
