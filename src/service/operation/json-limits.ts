import { findJsonExcess, MAX_JSON_DEPTH } from '../../wire/json-limits.js';
import { Refused } from './refused.js';

/** How many values a body may hold: more of them, and the problems found in them, would fill memory. */
export const MAX_VALUES = 100_000;

// Decided: an answer holds about 8 MB. A list leaves out what is too long for that, and says how to read it.
/** Bytes of the parts of an answer whose length users choose. */
export const MAX_ANSWER_BYTES = 8 * 1024 ** 2;

/**
 * Refuses a body that is too large or nested too deeply to be parsed: 20 MB of empty lists take 600 MB once parsed.
 * @throws Refused too_large, invalid_request
 */
export function refuseOversizedJson(json: Buffer, maxValues = MAX_VALUES): void {
  const excess = findJsonExcess(json, { maxDepth: MAX_JSON_DEPTH, maxValues });
  if (excess === 'depth')
    throw new Refused(
      'invalid_request',
      `The body nests lists and objects deeper than ${MAX_JSON_DEPTH} levels.`,
    );
  if (excess === 'values') throw tooManyValues(maxValues);
}

export function tooManyValues(maxValues = MAX_VALUES): Refused {
  return new Refused('too_large', `The body has more than ${maxValues} values.`);
}

/**
 * How many values an anonymous body may hold: parsing and checking tens of thousands of names holds up other requests.
 * A pair of the bulk request is three.
 */
export function chooseAnonymousMaxValues({ bulkPairs }: { readonly bulkPairs: number }): number {
  return Math.max(20_000, 4 * bulkPairs);
}
