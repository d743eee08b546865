export function readField(value: unknown, path: string): unknown {
  let current = value;
  for (const key of path.split('.')) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** Formats a value as one cell: lists of simple values are joined, nested values are JSON, missing ones are empty. */
export function formatCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Lists an object as rows of field and cell; nested objects become dotted fields. */
export function listFields(
  value: unknown,
  prefix = '',
  format: (value: unknown) => string = formatCell,
): [field: string, cell: string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [[prefix || 'value', format(value)]];
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = prefix ? `${prefix}.${key}` : key;
    const nested = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    return nested ? listFields(inner, name, format) : ([[name, format(inner)]] as [string, string][]);
  });
}

/** Lists the fields of an item, those with fields of their own included. */
export function listPaths(item: unknown): string[] {
  const paths = listFields(item).map(([name]) => name);
  return paths.flatMap((path) => path.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.')));
}

export function findItems(value: unknown, shape: Shape): readonly unknown[] | undefined {
  const items = shape.items ? readField(value, shape.items) : value;
  return Array.isArray(items) ? items : undefined;
}

/** Joins fields into the first of them: see `Shape.joined`. */
export function joinFields(item: unknown, [first = '', ...others]: readonly string[]): unknown {
  const parts = others.map((field) => formatCell(readField(item, field)));
  return parts.some((part) => part !== '')
    ? { ...(item as object), [first]: parts.filter(Boolean).join('@') }
    : item;
}

/** Which parts of an answer a command shows. */
export interface Shape {
  /** The response field with the list. Absent: the answer itself is the list, or one object. */
  readonly items?: string;
  /** The fields shown for each item; nested ones are dotted. */
  readonly columns?: readonly string[];
  /** The columns that a narrow screen has no room for, the first to go first. */
  readonly less?: readonly string[];
  /** The columns whose ids a terminal shortens, because commands accept the beginning of an id. */
  readonly ids?: readonly string[];
  /** On a terminal, one column for all of these: the first, or the others joined with @ where an item has them. */
  readonly joined?: readonly string[];
  /** The only field to show, such as a new token. */
  readonly only?: string;
  /** What a table without rows says. */
  readonly none?: string;
}
