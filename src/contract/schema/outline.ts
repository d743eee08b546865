/**
 * What a schema accepts, as plain data that is checked without zod, which takes longer to load than a request takes.
 * An outline may accept less than its schema, never more: where it does not fit, the schema decides.
 */
export type Outline =
  | { readonly type: 'anything' | 'boolean' }
  /** What an outline cannot express: nothing fits. Its names, if it has any, are those of the shape. */
  | { readonly type: 'undecided'; readonly shape?: Outline }
  /** Lengths in UTF-16 units. */
  | {
      readonly type: 'string';
      readonly min?: number;
      readonly max?: number;
      readonly patterns?: readonly string[];
    }
  | { readonly type: 'number'; readonly whole?: true; readonly min?: number; readonly max?: number }
  | { readonly type: 'constant'; readonly values: readonly unknown[] }
  | { readonly type: 'list'; readonly items: Outline; readonly min?: number; readonly max?: number }
  | { readonly type: 'map'; readonly keys: Outline; readonly values: Outline; readonly max?: number }
  | {
      readonly type: 'object';
      readonly fields: Readonly<Record<string, Outline>>;
      readonly required: readonly string[];
      /** Whether other fields are refused. */
      readonly closed?: true;
    }
  | { readonly type: 'either'; readonly of: readonly Outline[] }
  /** The shared outline with this number. */
  | { readonly type: 'shared'; readonly index: number };

/** Whether a value certainly fits an outline. */
export function fitsOutline(outline: Outline, value: unknown, shared: readonly Outline[]): boolean {
  switch (outline.type) {
    case 'anything':
      return true;
    case 'boolean':
      return typeof value === 'boolean';
    case 'string':
      return (
        typeof value === 'string' &&
        isWithin(value.length, outline) &&
        (outline.patterns ?? []).every((pattern) => new RegExp(pattern).test(value))
      );
    case 'number':
      return (
        (outline.whole ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
        isWithin(value as number, outline)
      );
    case 'constant':
      return outline.values.includes(value);
    case 'list':
      return (
        Array.isArray(value) &&
        isWithin(value.length, outline) &&
        value.every((item) => fitsOutline(outline.items, item, shared))
      );
    case 'map':
      return (
        isPlainObject(value) &&
        isWithin(Object.keys(value).length, outline) &&
        Object.entries(value).every(
          ([key, entry]) =>
            fitsOutline(outline.keys, key, shared) && fitsOutline(outline.values, entry, shared),
        )
      );
    case 'object':
      return isPlainObject(value) && fitsFields(outline, value, shared);
    case 'either':
      return outline.of.some((one) => fitsOutline(one, value, shared));
    case 'shared':
      return fitsOutline(shared[outline.index] as Outline, value, shared);
    default:
      return false;
  }
}

function fitsFields(
  { fields, required, closed }: Extract<Outline, { type: 'object' }>,
  value: Readonly<Record<string, unknown>>,
  shared: readonly Outline[],
): boolean {
  if (required.some((name) => value[name] === undefined)) return false;
  return Object.entries(value).every(([name, field]) => {
    if (!Object.hasOwn(fields, name)) return !closed;
    return field === undefined || fitsOutline(fields[name] as Outline, field, shared);
  });
}

function isWithin(size: number, { min, max }: { readonly min?: number; readonly max?: number }): boolean {
  return (min === undefined || size >= min) && (max === undefined || size <= max);
}

/** What `JSON.parse` and literals make; zod treats other objects differently. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
