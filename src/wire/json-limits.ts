/** How deep lists and objects may nest in a JSON body, of a request as of an answer. */
export const MAX_JSON_DEPTH = 64;

export interface JsonLimits {
  readonly maxDepth: number;
  /** Default: no limit. */
  readonly maxValues?: number;
}

const [quote, backslash, comma, bracket, brace, closingBracket, closingBrace] = Buffer.from('"\\,[{]}');

/**
 * Finds the limit that a JSON text exceeds, without parsing it: parsed, 20 MB of empty lists become 600 MB,
 * and deep nesting overflows the stack of code that walks the value. Every value but the first follows a comma
 * or opens a list or object, so neither of these outnumbers the values.
 */
export function findJsonExcess(
  json: Buffer,
  { maxDepth, maxValues = Number.POSITIVE_INFINITY }: JsonLimits,
): 'depth' | 'values' | undefined {
  let commas = 0;
  let openings = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === quote) at = findEndOfString(json, at);
    else if (byte === comma) commas += 1;
    else if (byte === bracket || byte === brace) {
      openings += 1;
      depth += 1;
    } else if (byte === closingBracket || byte === closingBrace) depth -= 1;
    if (depth > maxDepth) return 'depth';
    if (commas > maxValues || openings > maxValues) return 'values';
  }
  return undefined;
}

/** Most strings are shorter; in longer ones, such as images, native code finds the end ten times as fast. */
const SHORT_STRING = 4096;

/** @returns the index of the closing quotation mark; the length of the text if there is none */
function findEndOfString(json: Buffer, start: number): number {
  let at = start + 1;
  let quoteAt = start;
  for (;;) {
    for (const end = at + SHORT_STRING; at < end; at += 1) {
      if (json[at] === quote) return at;
      if (json[at] === backslash) at += 1;
    }
    // The next one is looked for once, however many backslashes come before it.
    if (quoteAt < at) quoteAt = json.indexOf('"', at);
    if (quoteAt < 0) return json.length;
    const untilEscape = json.subarray(at, quoteAt).indexOf('\\');
    if (untilEscape < 0) return quoteAt;
    at += untilEscape;
  }
}
