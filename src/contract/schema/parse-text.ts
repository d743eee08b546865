import type { FieldDescription } from './fields.js';

const WHOLE_NUMBER = /^-?\d+$/;
const DECIMAL_NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Parses text for a field into a number, a boolean or a string. Text that is not of the type of the field is
 * returned unchanged, so that only the schema decides, and says what is wrong.
 * @example parseText({ type: 'integer' }, '12') // 12
 * @example parseText({ type: 'integer' }, '1e3') // '1e3', which the schema refuses
 */
export function parseText(
  description: Pick<FieldDescription, 'type'>,
  text: string,
): string | number | boolean {
  for (const type of [description.type ?? 'string'].flat()) {
    if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
    const number =
      (type === 'integer' && WHOLE_NUMBER.test(text)) || (type === 'number' && DECIMAL_NUMBER.test(text));
    // Adding 0 turns -0 into 0.
    if (number && Number.isFinite(Number(text))) return Number(text) + 0;
  }
  return text;
}

/**
 * Parses one or several texts with the same name, as in a query string: the items of a list, or a single
 * value. Text given twice for a field that is not a list becomes a list, which the schema refuses.
 */
export function parseTexts(
  description: Pick<FieldDescription, 'type' | 'items'>,
  texts: readonly string[],
): unknown {
  if (description.items) return texts.map((text) => parseText(description.items as FieldDescription, text));
  return texts.length === 1 ? parseText(description, texts[0] as string) : [...texts];
}
