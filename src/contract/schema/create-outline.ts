import { z } from 'zod';
import { getMaxEntries } from './entries.js';
import type { Outline } from './outline.js';
import { getRules } from './rule.js';

const UNDECIDED: Outline = { type: 'undecided' };
/** The formats of strings that are nothing but a regular expression. */
const PATTERN_FORMATS = ['regex', 'datetime', 'email'];

/**
 * Derives the outline of a schema, for requests (`input`), which also have rules and a maximum number of entries, or
 * for responses (`output`).
 */
export function createOutline(schema: z.ZodType, io: 'input' | 'output'): Outline {
  const all = outline(schema, io);
  return io === 'input' && getRules(schema).length > 0 && all.type !== 'undecided'
    ? { type: 'undecided', shape: keepNames(all) }
    : all;
}

function outline(schema: z.core.$ZodType, io: 'input' | 'output'): Outline {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  const checks = listChecks(schema);
  const max = io === 'input' ? getMaxEntries(schema) : undefined;
  const entries = max === undefined ? {} : { max };
  switch (def.type) {
    case 'optional':
    case 'nonoptional':
    case 'default':
      return outline(def.innerType, io);
    case 'boolean':
      return checks.length > 0 ? UNDECIDED : { type: def.type };
    case 'string':
      return outlineString(schema as z.ZodString);
    case 'number':
      return outlineNumber(schema as z.ZodNumber);
    case 'enum':
      return { type: 'constant', values: Object.values(def.entries) };
    case 'literal':
      return { type: 'constant', values: [...def.values] };
    case 'array':
      if (checks.some(({ check }) => check !== 'min_length' && check !== 'max_length')) return UNDECIDED;
      return { type: 'list', items: outline(def.element, io), ...readBounds(checks), ...entries };
    case 'record':
      if (checks.length > 0) return UNDECIDED;
      return {
        type: 'map',
        keys: outline(def.keyType, io),
        values: outline(def.valueType, io),
        ...entries,
      };
    case 'union':
      return checks.length > 0
        ? UNDECIDED
        : { type: 'either', of: def.options.map((one) => outline(one, io)) };
    case 'object':
      return checks.length > 0
        ? { type: 'undecided', shape: keepNames(outlineObject(def, io)) }
        : outlineObject(def, io);
    default:
      return UNDECIDED;
  }
}

/** The outline without its checks, for callers that only need names. */
function keepNames(outline: Outline): Outline {
  switch (outline.type) {
    case 'list':
      return { type: 'list', items: keepNames(outline.items) };
    case 'object': {
      const fields = Object.entries(outline.fields).map(([name, field]) => [name, keepNames(field)]);
      return { type: 'object', fields: Object.fromEntries(fields), required: [] };
    }
    default:
      return ['map', 'either', 'undecided'].includes(outline.type) ? outline : { type: 'anything' };
  }
}

function outlineObject(def: z.core.$ZodObjectDef, io: 'input' | 'output'): Outline {
  const entries = Object.entries(def.shape);
  const others = def.catchall?._zod.def.type;
  if (others !== undefined && others !== 'never' && others !== 'unknown') return UNDECIDED;
  return {
    type: 'object',
    fields: Object.fromEntries(entries.map(([name, field]) => [name, outline(field, io)])),
    // A default stands in for what is absent.
    required: entries.filter(([, field]) => !z.safeParse(field, undefined).success).map(([name]) => name),
    ...(others === 'never' && { closed: true }),
  };
}

interface CheckDefinition {
  readonly check: string;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly format?: string;
  readonly pattern?: RegExp | undefined;
  readonly value?: number;
  readonly inclusive?: boolean;
}

/** A format, such as that of an email address, is a check that is part of the schema. */
function listChecks(schema: z.core.$ZodType): CheckDefinition[] {
  const def = schema._zod.def as z.core.$ZodTypeDef & Partial<CheckDefinition>;
  const others = (def.checks ?? []).map(({ _zod }) => _zod.def as CheckDefinition);
  return def.check === undefined ? others : [def as CheckDefinition, ...others];
}

function readBounds(checks: readonly CheckDefinition[]): { min?: number; max?: number } {
  const [min] = checks.flatMap(({ minimum }) => minimum ?? []).sort((a, b) => b - a);
  const [max] = checks.flatMap(({ maximum }) => maximum ?? []).sort((a, b) => a - b);
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

function outlineString(schema: z.ZodString): Outline {
  const bounds: CheckDefinition[] = [];
  const patterns: string[] = [];
  for (const check of listChecks(schema)) {
    if (check.check === 'min_length' || check.check === 'max_length') bounds.push(check);
    else if (check.check === 'string_format' && PATTERN_FORMATS.includes(check.format ?? '')) {
      if (check.pattern?.flags.replace('g', '') !== '') return UNDECIDED;
      patterns.push(check.pattern.source);
    } else if (check.check === 'custom' && schema.meta()?.maxLength !== undefined) {
      // The length in characters, which are never more than UTF-16 units.
      bounds.push({ check: 'max_length', maximum: schema.meta()?.maxLength as number });
    } else return UNDECIDED;
  }
  return { type: 'string', ...readBounds(bounds), ...(patterns.length > 0 && { patterns }) };
}

function outlineNumber(schema: z.ZodNumber): Outline {
  let whole = false;
  const bounds: CheckDefinition[] = [];
  for (const check of listChecks(schema)) {
    if (check.check === 'number_format' && (check.format === 'safeint' || check.format === 'int32')) {
      whole = true;
      if (check.format === 'int32') bounds.push({ ...check, minimum: -(2 ** 31), maximum: 2 ** 31 - 1 });
    } else if (check.check === 'greater_than' && check.inclusive)
      bounds.push({ ...check, minimum: check.value });
    else if (check.check === 'less_than' && check.inclusive) bounds.push({ ...check, maximum: check.value });
    else return UNDECIDED;
  }
  return { type: 'number', ...(whole && { whole: true as const }), ...readBounds(bounds) };
}
