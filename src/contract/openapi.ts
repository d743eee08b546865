import { z } from 'zod';
import { ErrorBody } from './errors.js';
import { webhookEvents, webhookHeaders } from './events.js';
import { listOperations, type Operation, type OperationTree } from './operation.js';
import { toJsonSchema } from './schema/json-schema.js';
import type { JsonSchema } from './schema/schema-types.js';

export interface DocumentOptions {
  /** The version of the interface, as `info.version`. */
  readonly version: string;
  /** The address of the service, such as `http://127.0.0.1:7717`. */
  readonly serverUrl?: string;
}

/** Writes a tree of operations as an OpenAPI 3.1 document. */
export function createOpenApiDocument(
  tree: OperationTree,
  { version, serverUrl }: DocumentOptions,
): Record<string, unknown> {
  const components = new Components();
  const error = {
    description: 'Error',
    headers: errorHeaders,
    content: toJsonContent(components.add(ErrorBody, 'output')),
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, operation] of listOperations(tree)) {
    paths[operation.path] ??= {};
    const methods = paths[operation.path] as Record<string, unknown>;
    methods[operation.method.toLowerCase()] = describeOperation(name, operation, components);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Node Registry and Generation Proxy Service', version },
    ...(serverUrl ? { servers: [{ url: serverUrl }] } : {}),
    paths,
    webhooks: describeWebhooks(components),
    components: {
      schemas: components.toSchemas(),
      responses: { Error: error },
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
    return [event, { post: { operationId: event, summary, parameters, requestBody, responses } }];
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
    // A credential is optional here: it shows more.
    security: operation.who === 'anyone' ? [{}, { bearer: [] }] : [{ bearer: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: true, content: toJsonContent(components.add(body, 'input')) } }
      : {}),
    responses: {
      [status]: {
        description: status === 204 ? 'Done' : 'Success',
        ...(response ? { content: toJsonContent(components.add(response, 'output')) } : {}),
      },
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

function describeParameters({ params, query, method, secret }: Operation, components: Components): unknown[] {
  const key = method === 'POST' && !secret ? [idempotencyKey] : [];
  const inQuery = query ? describeFieldsIn('query', query, components) : [];
  return [...describeFieldsIn('path', params, components), ...inQuery, ...key];
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

  /** Registers the named parts of a schema, and returns the schema or a reference to it. */
  add(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const { $defs = {}, ...root } = toJsonSchema(schema, io);
    const known = io === 'input' ? this.#requests : this.#responses;
    for (const [name, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
      if (!known.has(name)) known.set(name, this.#rewrite(definition, io));
    }
    return this.#rewrite(root, io);
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

  #rewrite(schema: JsonSchema, io: 'input' | 'output'): JsonSchema {
    return JSON.parse(JSON.stringify(schema), (_, value) => {
      if (typeof value !== 'object' || value === null) return value;
      // Responses are lenient: a field added later must not break a client generated from this document.
      if (io === 'output' && value.additionalProperties === false) delete value.additionalProperties;
      if (typeof value.$ref === 'string') {
        value.$ref = value.$ref.replace('#/$defs/', io === 'input' ? SCHEMA_PREFIX : ANSWER_PREFIX);
        if (io === 'output') this.#references.push(value);
      }
      return value;
    });
  }
}

const SCHEMA_PREFIX = '#/components/schemas/';
const ANSWER_PREFIX = '#/components/answers/';
const ANSWER_SUFFIX = 'Answer';
