import type { z } from 'zod';
import { toJsonSchema } from '../../src/contract/schema/json-schema.js';
import type { JsonSchema } from '../../src/contract/schema/schema-types.js';

/** The declared fields of an object; items of a list and values of a record share the fields of their container. */
interface DeclaredFields {
  readonly path: string;
  readonly fields: ReadonlyMap<string, DeclaredFields>;
}

export interface Observed<Value> {
  /** The value, which remembers what is read of it. */
  readonly value: Value;
  /** The declared fields that were not read, as paths: `node.name`. Without those that the contract says are ignored. */
  listUnread(): string[];
}

/** Wraps a request's params, query or body, to see whether a handler reads every field that its schema declares. */
export function observeReads<Value>(schema: z.ZodType, value: Value): Observed<Value> {
  const written = toJsonSchema(schema, 'input');
  const declared = declareFields(written, (written.$defs ?? {}) as Record<string, JsonSchema>, '', []);
  const read = new Set<string>();
  return {
    value: observeValue(value, declared, read) as Value,
    listUnread: () => listPaths(declared).filter((path) => !read.has(path)),
  };
}

/** @param within the references entered on the way, so that a schema that contains itself ends */
function declareFields(
  schema: JsonSchema,
  definitions: Record<string, JsonSchema>,
  path: string,
  within: readonly string[],
): DeclaredFields {
  const fields = new Map<string, DeclaredFields>();
  const add = (one: JsonSchema, entered: readonly string[]): void => {
    const reference = one.$ref as string | undefined;
    if (reference !== undefined && !entered.includes(reference)) {
      const definition = definitions[reference.replace('#/$defs/', '')];
      add(definition as JsonSchema, [...entered, reference]);
    }
    for (const [name, field] of Object.entries((one.properties ?? {}) as Record<string, JsonSchema>)) {
      // The contract says that these are set by the service and ignored in requests.
      if (field.readOnly) continue;
      fields.set(name, declareFields(field, definitions, path ? `${path}.${name}` : name, entered));
    }
    const alternatives = [one.anyOf, one.oneOf, one.allOf].flatMap((list) => (list ?? []) as JsonSchema[]);
    for (const inner of [one.items, one.additionalProperties, ...alternatives]) {
      if (typeof inner === 'object' && inner !== null) add(inner as JsonSchema, entered);
    }
  };
  add(schema, within);
  return { path, fields };
}

function listPaths({ fields }: DeclaredFields): string[] {
  return [...fields.values()].flatMap((field) => [field.path, ...listPaths(field)]);
}

function observeValue(value: unknown, declared: DeclaredFields, read: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isContainer = (key: string | symbol) => typeof key === 'string' && !declared.fields.has(key);
  const note = (key: string | symbol) => {
    const field = typeof key === 'string' ? declared.fields.get(key) : undefined;
    if (field) read.add(field.path);
  };
  return new Proxy(value, {
    get: (target, key) => {
      note(key);
      const inner = Reflect.get(target, key);
      if (typeof inner === 'function') return inner;
      return observeValue(
        inner,
        isContainer(key) ? declared : (declared.fields.get(key as string) as never),
        read,
      );
    },
    has: (target, key) => {
      note(key);
      return Reflect.has(target, key);
    },
    // A copy of the whole object takes along every field, also those that this request does not have.
    ownKeys: (target) => {
      for (const [name, field] of declared.fields) {
        read.add(field.path);
        if (!Object.hasOwn(target, name)) for (const path of listPaths(field)) read.add(path);
      }
      return Reflect.ownKeys(target);
    },
  });
}
