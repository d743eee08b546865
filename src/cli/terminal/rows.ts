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
