import type { ErrorCode } from '../../contract/error-codes.js';

/** One problem of a request, as listed in the answer's `details`. */
export interface RefusedDetail {
  readonly path: string;
  readonly message: string;
}

/** A request that is refused. The HTTP layer answers it with the status of the code and this message. */
export class Refused extends Error {
  override readonly name = 'Refused';

  /** @param message one sentence: what is wrong and what to do */
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: readonly RefusedDetail[],
    /** When to try again, if that may help. Seconds. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** Whether a request was refused because what it is about does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Refused && error.code === 'not_found';
}

/**
 * @param message continues its name
 * @param name how the sentence names it
 */
export function invalidField(path: string, message: string, name = path): Refused {
  return new Refused('invalid_request', `${name} ${message}.`, [{ path, message }]);
}
