import { z } from 'zod';
import { errorCodes } from './error-codes.js';
import { ErrorBody } from './errors.js';
import { webhookEvents, webhookHeaders } from './events.js';
import { isCacheable, listOperations, type Operation, type OperationTree } from './operation.js';
import { toJsonSchema } from './schema/json-schema.js';
import type { Names } from './schema/message.js';
import type { JsonSchema } from './schema/schema-types.js';

export interface DocumentOptions {
  /** The version of the interface, as `info.version`. */
  readonly version: string;
  /** The address of the service, such as `http://127.0.0.1:7717`. */
  readonly serverUrl?: string;
  /** What sentences call fields and values. */
  readonly names?: Names;
  /** Changes an operation before it is described. */
  readonly adapt?: (name: string, operation: Operation) => Operation;
}

/** Writes a tree of operations as an OpenAPI 3.1 document. */
export function createOpenApiDocument(
  tree: OperationTree,
  { version, serverUrl, names, adapt = (_, operation) => operation }: DocumentOptions,
): Record<string, unknown> {
  const components = new Components(names);
  const error = components.add(ErrorBody, 'output');
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, operation] of listOperations(tree)) {
    paths[operation.path] ??= {};
    const methods = paths[operation.path] as Record<string, unknown>;
    methods[operation.method.toLowerCase()] = describeOperation(name, adapt(name, operation), components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Node Registry and Generation Proxy Service',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    ...(serverUrl ? { servers: [{ url: serverUrl }] } : {}),
    paths,
    webhooks: describeWebhooks(components),
    components: {
      schemas: components.toSchemas(),
      responses: describeErrors(error),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const errorHeaders = {
  'X-Request-Id': {
    description: 'Identifies the request in the logs',
    required: true,
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait; sent with 429 and 503',
    schema: { type: 'integer', minimum: 1 },
  },
  Allow: { description: 'Methods that the path supports; sent with 405', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'Sent with 401', schema: { type: 'string' } },
};

/** No operation answers with these: they are for other methods and for files. */
const OTHER_STATUSES = [405, 411, 416];

/** The error response, and one for each status with the codes that it has. */
function describeErrors(schema: JsonSchema): Record<string, unknown> {
  const statuses = new Map<number, string[]>();
  for (const [code, { status, meaning }] of Object.entries(errorCodes))
    statuses.set(status, [...(statuses.get(status) ?? []), `- \`${code}\`: ${meaning}`]);
  const content = toJsonContent(schema);
  const described = [...statuses].filter(([status]) => !OTHER_STATUSES.includes(status));
  const entries = described.map(([status, lines]) => [
    `Error${status}`,
    { description: lines.join('\n'), headers: errorHeaders, content },
  ]);
  return { Error: { description: 'Error', headers: errorHeaders, content }, ...Object.fromEntries(entries) };
}

/** The statuses of errors that an operation may answer with. */
function listErrorStatuses({ params, body, task, ownErrors = [] }: Operation): number[] {
  const hasPath = Object.keys(params.shape).length > 0;
  const path = hasPath ? [404] : [];
  const rest = [429, 500, ...(task ? [501] : []), 503];
  return [400, 401, 403, ...path, ...ownErrors, ...(body ? [409, 413, 415] : []), ...rest];
}

function describeWebhooks(components: Components): Record<string, unknown> {
  const parameters = Object.values(webhookHeaders).map((name) => ({
    name,
    in: 'header',
    required: true,
    schema: { type: 'string' },
  }));
  const entries = Object.entries(webhookEvents).map(([event, body]) => {
    const requestBody = { required: true, content: toJsonContent(components.add(body, 'output')) };
    const summary = 'Report a new status of a task, signed as defined by Standard Webhooks';
    const responses = {
      '2XX': { description: 'Delivered' },
      410: { description: 'Send no more webhooks for this task' },
    };
    // The signature proves who sent it.
    const security: never[] = [];
    return [event, { post: { operationId: event, summary, security, parameters, requestBody, responses } }];
  });
  return Object.fromEntries(entries);
}

function describeOperation(
  name: string,
  operation: Operation,
  components: Components,
): Record<string, unknown> {
  const { body, response, status = 200 } = operation;
  const parameters = describeParameters(operation, components);
  return {
    operationId: name,
    summary: operation.summary,
    tags: [name.split('.')[0]],
    ...(operation.extension ? { 'x-extension': true } : {}),
    ...(operation.destroys ? { 'x-destroys': operation.destroys.loss } : {}),
    // A credential is optional here: it shows more.
    security: operation.who === 'anyone' ? [{}, { bearer: [] }] : [{ bearer: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: true, content: toJsonContent(components.add(body, 'input')) } }
      : {}),
    responses: {
      [status]: {
        description: status === 204 ? 'Done' : 'Success',
        ...(isCacheable(operation) ? { headers: cacheHeaders } : {}),
        ...(response ? { content: toJsonContent(components.add(response, 'output')) } : {}),
      },
      ...(isCacheable(operation) ? { 304: { description: 'Not modified', headers: cacheHeaders } } : {}),
      ...Object.fromEntries(
        listErrorStatuses(operation).map((error) => [
          error,
          { $ref: `#/components/responses/Error${error}` },
        ]),
      ),
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Identifies a request across retries, which get the answer of the first attempt',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
};

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'The ETag of an answer to a request without a credential; the answer is 304 if it is still the same',
  schema: { type: 'string' },
};

const cacheHeaders = {
  ETag: { description: 'Sent to requests without a credential', schema: { type: 'string' } },
  'Cache-Control': {
    description: 'How long caches may keep the answer; sent to requests without a credential',
    schema: { type: 'string' },
  },
};

function describeParameters(operation: Operation, components: Components): unknown[] {
  const { params, query, method, secret } = operation;
  const key = method === 'POST' && !secret ? [idempotencyKey] : [];
  const condition = isCacheable(operation) ? [ifNoneMatch] : [];
  const inQuery = query ? describeFieldsIn('query', query, components) : [];
  return [...describeFieldsIn('path', params, components), ...inQuery, ...key, ...condition];
}

function describeFieldsIn(place: 'path' | 'query', schema: z.ZodObject, components: Components): unknown[] {
  // A new object has no name, so its fields are written in place.
  const { properties, required = [] } = components.add(z.object(schema.shape), 'input');
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, field]) => {
    const { description, deprecated, ...rest } = field;
    return {
      name,
      in: place,
      ...(description ? { description } : {}),
      ...((required as string[]).includes(name) ? { required: true } : {}),
      ...(deprecated ? { deprecated } : {}),
      schema: rest,
    };
  });
}

function toJsonContent(schema: JsonSchema) {
  return { 'application/json': { schema } };
}

/** Collects the schemas that have a name (`id`) from all operations. */
class Components {
  readonly #requests = new Map<string, JsonSchema>();
  readonly #responses = new Map<string, JsonSchema>();
  readonly #references: { $ref: string }[] = [];

  constructor(readonly names: Names = {}) {}

  /** Registers the named parts of a schema, and returns the schema or a reference to it. */
  add(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const { $defs = {}, ...root } = toJsonSchema(schema, io, this.names);
    const known = io === 'input' ? this.#requests : this.#responses;
    for (const [name, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
      if (known.has(name) || isInPlace(definition, io)) continue;
      known.set(name, this.#rewrite(definition, io, $defs as Definitions));
    }
    return this.#rewrite(root, io, $defs as Definitions);
  }

  /** All named schemas. One that differs in responses, for example by its defaults, gets a second name. */
  toSchemas(): Record<string, JsonSchema> {
    const different = this.#findDifferent();
    for (const reference of this.#references) {
      if (different.has(reference.$ref.replace(ANSWER_PREFIX, ''))) reference.$ref += ANSWER_SUFFIX;
      reference.$ref = reference.$ref.replace(ANSWER_PREFIX, SCHEMA_PREFIX);
    }
    const renamed = [...this.#responses].map(
      ([name, schema]) => [different.has(name) ? name + ANSWER_SUFFIX : name, schema] as const,
    );
    return Object.fromEntries([...this.#requests, ...renamed].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #findDifferent(): Set<string> {
    const shared = [...this.#responses.keys()].filter((name) => this.#requests.has(name));
    const text = (schema: JsonSchema | undefined) =>
      JSON.stringify(schema).replaceAll(ANSWER_PREFIX, SCHEMA_PREFIX);
    const found = new Set(
      shared.filter((name) => text(this.#requests.get(name)) !== text(this.#responses.get(name))),
    );
    // So does a schema that refers to one that differs.
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const name of shared) {
        const schema = JSON.stringify(this.#responses.get(name));
        if ([...found].some((other) => schema.includes(`"${ANSWER_PREFIX}${other}"`))) found.add(name);
      }
    }
    return found;
  }

  #rewrite(schema: JsonSchema, io: 'input' | 'output', definitions: Definitions): JsonSchema {
    return JSON.parse(JSON.stringify(schema), (_, value) => {
      if (typeof value !== 'object' || value === null) return value;
      // Responses are lenient: a field added later must not break a client generated from this document.
      if (io === 'output' && value.additionalProperties === false) delete value.additionalProperties;
      if (typeof value.$ref === 'string') {
        const name = value.$ref.replace('#/$defs/', '');
        const definition = definitions[name];
        if (definition && isInPlace(definition, io))
          return this.#rewrite({ title: name, ...definition }, io, definitions);
        value.$ref = value.$ref.replace('#/$defs/', io === 'input' ? SCHEMA_PREFIX : ANSWER_PREFIX);
        if (io === 'output') this.#references.push(value);
      }
      return value;
    });
  }
}

type Definitions = Readonly<Record<string, JsonSchema>>;

/**
 * Requests with defaults are written where they are used: openapi-typescript takes a field with a default for one
 * that is always there, except inside of a request body.
 */
function isInPlace({ properties }: JsonSchema, io: 'input' | 'output'): boolean {
  return (
    io === 'input' && Object.values((properties ?? {}) as Definitions).some((field) => 'default' in field)
  );
}

const SCHEMA_PREFIX = '#/components/schemas/';
const ANSWER_PREFIX = '#/components/answers/';
const ANSWER_SUFFIX = 'Answer';
