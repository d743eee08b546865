import type { ErrorBody } from '../contract/errors.js';
import type { Problem } from '../contract/problems.js';

/**
 * Every error of this client: `code` for programs, `message` for people. An aborted call rejects with its
 * signal's reason instead. Neither holds a credential, nor more of a signed URL than its origin.
 */
export abstract class ClientError extends Error {
  abstract readonly code: string;
}

/** The input breaks the contract; nothing was sent. `problems` paths start with `body` inside the body. */
export class InvalidRequestError extends ClientError {
  override readonly name = 'InvalidRequestError';
  readonly code = 'invalid_request';
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${path.join('.') || 'input'} ${message}`).join('; '));
  }
}

export interface ServiceFailure {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly details?: ErrorBody['details'];
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** The service answered, and not with a success. */
export class ServiceError extends ClientError {
  override readonly name = 'ServiceError';
  /** The service's own code (see `errorCodes`), or `http_<status>` where its answer had none. */
  readonly code: string;
  readonly status: number;
  readonly details: NonNullable<ErrorBody['details']>;
  /** Finds the request in the service's logs. */
  readonly requestId: string | undefined;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: ServiceFailure) {
    super(failure.message);
    this.code = failure.code;
    this.status = failure.status;
    this.details = failure.details ?? [];
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

export type NetworkCode =
  | 'refused'
  | 'dns'
  | 'unreachable'
  | 'reset'
  | 'tls'
  | 'proxy'
  | 'timeout'
  | 'failed';

/** No whole answer came. */
export class NetworkError extends ClientError {
  override readonly name = 'NetworkError';
  /** The address of the proxy, without its credential, where the proxy could not be reached. */
  readonly proxy: string | undefined;
  /**
   * @param sent whether the request reached the service: `true` (it began to answer), `false` (surely not),
   *   `'unknown'` (it may have, and may have been carried out).
   */
  constructor(
    readonly code: NetworkCode,
    message: string,
    readonly sent: boolean | 'unknown',
    options?: ErrorOptions & { readonly proxy?: string | undefined },
  ) {
    super(message, options);
    this.proxy = options?.proxy;
  }
}

export type ResponseCode = 'not_json' | 'empty' | 'too_large' | 'redirect' | 'changed';

/** An answer came that cannot be used. */
export class ResponseError extends ClientError {
  override readonly name = 'ResponseError';
  constructor(
    readonly code: ResponseCode,
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** The time for waiting is over; the work itself goes on. `last` is the newest answer, if any came. */
export class StillRunningError extends ClientError {
  override readonly name = 'StillRunningError';
  readonly code = 'still_running';
  constructor(readonly last: unknown) {
    super('The work is still running; waiting for it ended.');
  }
}
