import { stat } from 'node:fs/promises';
import { FetchFailed, type FetchMediaOptions, fetchMedia } from '../network/fetch-media.js';
import type { OwnOrigin } from '../network/guarded-agent.js';
import { invalidField } from '../operation/refused.js';

export interface InputOptions extends OwnOrigin, Pick<FetchMediaOptions, 'signal' | 'admit'> {
  /** The field of the request, for error messages. */
  readonly field: string;
  /** The folder of the new file; created if necessary. */
  readonly folder: string;
}

/**
 * Fetches the URL in a field of a request.
 * @throws Refused invalid_request with the field; the signal's reason if the caller aborted
 */
export async function fetchInput(
  field: string,
  url: string,
  path: string,
  options: FetchMediaOptions,
): Promise<void> {
  if (!URL.canParse(url)) throw invalidField(field, 'must be a valid URL');
  try {
    await fetchMedia(new URL(url), path, options);
  } catch (error) {
    if (error instanceof FetchFailed) throw invalidField(field, `could not be fetched: ${error.message}`);
    throw error;
  }
  if ((await stat(path)).size === 0) throw invalidField(field, 'must not be empty');
}
