import { z } from 'zod';
import { DEFAULT_LIMITS, type Limits } from './limits.js';
import type { Problem } from './schema-types.js';

/** Decided: a list or map in a request has at most 1000 entries, unless its schema says otherwise. */
const MAX_ENTRIES = 1000;

const registry = z.registry<{ max: number | keyof Limits }>();

export function limitEntries<Schema extends z.ZodType>(max: number | keyof Limits, schema: Schema): Schema {
  const limited = schema.clone();
  registry.add(limited, { max });
  return limited;
}

/** The maximum number of entries of a list or map; undefined for other schemas. */
export function getMaxEntries(
  schema: z.core.$ZodType,
  limits: Readonly<Limits> = DEFAULT_LIMITS,
): number | undefined {
  const { type, checks } = schema._zod.def;
  if (type !== 'array' && type !== 'record') return undefined;
  const own = registry.get(schema as z.ZodType)?.max;
  if (own !== undefined) return typeof own === 'number' ? own : limits[own];
  const bounds = (checks ?? []).map(({ _zod }) => _zod.def as { check: string; maximum?: number });
  return bounds.find(({ check }) => check === 'max_length')?.maximum ?? MAX_ENTRIES;
}

/**
 * Finds the lists and maps of a value that have too many entries. To be called before the entries are
 * checked: each of them could be wrong, and the problems of a million entries take more memory than the
 * entries.
 */
export function findExcessEntries(
  schema: z.core.$ZodType,
  value: unknown,
  limits: Readonly<Limits> | undefined,
  path: readonly (string | number)[] = [],
): Problem[] {
  if (typeof value !== 'object' || value === null) return [];
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  if ('innerType' in def) return findExcessEntries(def.innerType, value, limits, path);
  const max = getMaxEntries(schema, limits);
  if (max !== undefined && Object.keys(value).length > max) {
    const [one, many] = Array.isArray(value) ? ['item', 'items'] : ['entry', 'entries'];
    return [{ path, message: `must have at most ${max} ${max === 1 ? one : many}` }];
  }
  const inner = (key: string): z.core.$ZodType | undefined => {
    if (def.type === 'object') return Object.hasOwn(def.shape, key) ? def.shape[key] : undefined;
    return def.type === 'array' ? def.element : def.type === 'record' ? def.valueType : undefined;
  };
  const names =
    def.type === 'object'
      ? Object.keys(def.shape).filter((name) => Object.hasOwn(value, name))
      : Object.keys(value);
  return names.flatMap((key) => {
    const schemaOfEntry = inner(key);
    const entry = (value as Record<string, unknown>)[key];
    return schemaOfEntry ? findExcessEntries(schemaOfEntry, entry, limits, [...path, key]) : [];
  });
}
