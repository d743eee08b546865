import type { ErrorCode } from '../contract/errors.js';

/** One problem of a request as the answer's `details` list it. */
export interface RefusedDetail {
  readonly path: string;
  readonly message: string;
}

/** What the service will not do; the HTTP layer answers it with the code's status and this sentence. */
export class Refused extends Error {
  override readonly name = 'Refused';

  /** @param message one sentence a person can act on */
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: readonly RefusedDetail[],
    /** Of what is worth another try: seconds until then. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}
