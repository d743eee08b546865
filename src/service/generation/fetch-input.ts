import { stat } from 'node:fs/promises';
import { FetchFailed, type FetchMediaOptions, fetchMedia } from '../network/fetch-media.js';
import { Refused } from '../operation/refused.js';

/**
 * Fetches the URL in a field of a request.
 * @throws Refused invalid_request naming the field; the signal's reason if the caller aborted
 */
export async function fetchInput(
  field: string,
  url: string,
  path: string,
  options: FetchMediaOptions,
): Promise<void> {
  if (!URL.canParse(url)) throw invalidInput(field, 'must be a valid URL');
  try {
    await fetchMedia(new URL(url), path, options);
  } catch (error) {
    if (error instanceof FetchFailed) throw invalidInput(field, `could not be fetched: ${error.message}`);
    throw error;
  }
  if ((await stat(path)).size === 0) throw invalidInput(field, 'must not be empty');
}

/** @param message continues the name of the field */
export function invalidInput(field: string, message: string): Refused {
  return new Refused('invalid_request', `${field} ${message}.`, [{ path: field, message }]);
}
