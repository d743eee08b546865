import { Refused } from '../refused.js';

/** A body holds at most so many values: more would make them, and the list of what is wrong with them, fill memory. */
export const mostValues = 250_000;

const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{');

/**
 * Counts the values of a JSON text before it is parsed, because 20 MB of empty lists become 600 MB of them. Every
 * value but the first follows a comma or opens a list or object, so neither of these outnumbers the values.
 * @throws Refused too_large
 */
export function refuseCrowd(json: Buffer): void {
  let commas = 0;
  let openings = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === quote) at = endOfText(json, at);
    else if (byte === comma) commas += 1;
    else if (byte === bracket || byte === brace) openings += 1;
    if (commas > mostValues || openings > mostValues) throw tooMany();
  }
}

export function tooMany(): Refused {
  return new Refused('too_large', `The body holds more than ${mostValues} values.`);
}

/** @returns where the quotation mark is that ends the text begun at `start`; the length of the whole where none does */
function endOfText(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === quote) return at;
    if (json[at] === backslash) at += 1;
  }
  return json.length;
}
