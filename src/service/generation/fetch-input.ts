import { stat } from 'node:fs/promises';
import { Refused } from '../refused.js';
import { type FetchRules, fetchImage, NotFetched } from './fetch-image.js';

/**
 * Fetches what a field of a request leads to.
 * @throws Refused invalid_request naming the field; the signal's reason where the caller gave up
 */
export async function fetchInput(field: string, url: string, path: string, rules: FetchRules): Promise<void> {
  if (!URL.canParse(url)) throw refusedInput(field, 'must be a valid URL');
  try {
    await fetchImage(new URL(url), path, rules);
  } catch (error) {
    if (error instanceof NotFetched) throw refusedInput(field, `could not be fetched: ${error.message}`);
    throw error;
  }
  if ((await stat(path)).size === 0) throw refusedInput(field, 'must not be empty: 0 bytes were fetched');
}

/** @param message follows the name of the field */
export function refusedInput(field: string, message: string): Refused {
  return new Refused('invalid_request', `${field} ${message}.`, [{ path: field, message }]);
}
