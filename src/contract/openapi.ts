import { z } from 'zod';
import { ErrorBody } from './errors.js';
import { webhookEvents, webhookHeaders } from './events.js';
import { type JsonSchema, jsonSchema } from './json-schema.js';
import { type Operation, operations, type Tree } from './operation.js';

export interface DocumentOptions {
  /** The interface's version, as `info.version`; its changes are additive. */
  readonly version: string;
  /** Where the service is reached, such as `http://127.0.0.1:7717`. */
  readonly serverUrl?: string;
}

/** Writes a tree of operations as an OpenAPI 3.1 document. */
export function openapi(tree: Tree, { version, serverUrl }: DocumentOptions): Record<string, unknown> {
  const components = new Components();
  const error = {
    description: 'Any failure',
    headers: refusalHeaders,
    content: json(components.add(ErrorBody, 'output')),
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, operation] of operations(tree)) {
    paths[operation.path] ??= {};
    const methods = paths[operation.path] as Record<string, unknown>;
    methods[operation.method.toLowerCase()] = describe(name, operation, components);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Node Registry and Generation Proxy Service', version },
    ...(serverUrl ? { servers: [{ url: serverUrl }] } : {}),
    paths,
    webhooks: webhooksOf(components),
    components: {
      schemas: components.written(),
      responses: { Error: error },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const refusalHeaders = {
  'X-Request-Id': {
    description: 'Names the request in the logs',
    required: true,
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds; with 429 and 503', schema: { type: 'integer', minimum: 1 } },
  Allow: { description: 'What the path is there for; with 405', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'With 401', schema: { type: 'string' } },
};

function webhooksOf(components: Components): Record<string, unknown> {
  const parameters = Object.values(webhookHeaders).map((name) => ({
    name,
    in: 'header',
    required: true,
    schema: { type: 'string' },
  }));
  const entries = Object.entries(webhookEvents).map(([event, body]) => {
    const requestBody = { required: true, content: json(components.add(body, 'output')) };
    const summary = 'A task has a new status; signed as Standard Webhooks say';
    const responses = {
      '2XX': { description: 'Delivered' },
      410: { description: 'Tell no more of this task' },
    };
    return [event, { post: { operationId: event, summary, parameters, requestBody, responses } }];
  });
  return Object.fromEntries(entries);
}

function describe(name: string, operation: Operation, components: Components): Record<string, unknown> {
  const { body, response, status = 200 } = operation;
  const parameters = parametersOf(operation, components);
  return {
    operationId: name,
    summary: operation.summary,
    tags: [name.split('.')[0]],
    ...(operation.extension ? { 'x-extension': true } : {}),
    // A credential only widens what is seen where none is needed.
    security: operation.auth === 'bearer' ? [{ bearer: [] }] : [{}, { bearer: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: json(components.add(body, 'input')) } } : {}),
    responses: {
      [status]: {
        description: status === 204 ? 'Done' : 'Success',
        ...(response ? { content: json(components.add(response, 'output')) } : {}),
      },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same for all repeats of one request; they are answered as the first was',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
};

function parametersOf({ params, query, method, secret }: Operation, components: Components): unknown[] {
  const key = method === 'POST' && !secret ? [idempotencyKey] : [];
  const inQuery = query ? parametersIn('query', query, components) : [];
  return [...parametersIn('path', params, components), ...inQuery, ...key];
}

function parametersIn(place: 'path' | 'query', schema: z.ZodObject, components: Components): unknown[] {
  // A fresh object has no name of its own, so its fields are written in place.
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

function json(schema: JsonSchema) {
  return { 'application/json': { schema } };
}

/** The schemas that have a name (`id`), collected from all operations. */
class Components {
  private readonly sent = new Map<string, JsonSchema>();
  private readonly answered = new Map<string, JsonSchema>();
  private readonly references: { $ref: string }[] = [];

  /** Registers a schema's named parts and returns the schema itself, or a reference to it. */
  add(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const { $defs = {}, ...root } = jsonSchema(schema, io);
    const known = io === 'input' ? this.sent : this.answered;
    for (const [name, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
      if (!known.has(name)) known.set(name, this.rewrite(definition, io));
    }
    return this.rewrite(root, io);
  }

  /** All named schemas; one that reads differently in answers (defaults are always there) gets a second name. */
  written(): Record<string, JsonSchema> {
    const different = this.different();
    for (const reference of this.references) {
      if (different.has(reference.$ref.replace(answerPrefix, ''))) reference.$ref += answerSuffix;
      reference.$ref = reference.$ref.replace(answerPrefix, sentPrefix);
    }
    const renamed = [...this.answered].map(
      ([name, schema]) => [different.has(name) ? name + answerSuffix : name, schema] as const,
    );
    return Object.fromEntries([...this.sent, ...renamed].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private different(): Set<string> {
    const shared = [...this.answered.keys()].filter((name) => this.sent.has(name));
    const text = (schema: JsonSchema | undefined) =>
      JSON.stringify(schema).replaceAll(answerPrefix, sentPrefix);
    const found = new Set(
      shared.filter((name) => text(this.sent.get(name)) !== text(this.answered.get(name))),
    );
    // A schema that refers to one that differs differs as well.
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const name of shared) {
        const schema = JSON.stringify(this.answered.get(name));
        if ([...found].some((other) => schema.includes(`"${answerPrefix}${other}"`))) found.add(name);
      }
    }
    return found;
  }

  private rewrite(schema: JsonSchema, io: 'input' | 'output'): JsonSchema {
    return JSON.parse(JSON.stringify(schema), (_, value) => {
      if (typeof value !== 'object' || value === null) return value;
      // Answers are lenient: a field that comes later must not break a client generated from this document.
      if (io === 'output' && value.additionalProperties === false) delete value.additionalProperties;
      if (typeof value.$ref === 'string') {
        value.$ref = value.$ref.replace('#/$defs/', io === 'input' ? sentPrefix : answerPrefix);
        if (io === 'output') this.references.push(value);
      }
      return value;
    });
  }
}

const sentPrefix = '#/components/schemas/';
const answerPrefix = '#/components/answers/';
const answerSuffix = 'Answer';
