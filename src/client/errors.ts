import type { ErrorCode } from '../contract/error-codes.js';
import type { Problem } from '../contract/schema/schema-types.js';

/**
 * The base of all errors of this client: `code` for programs, `message` for people. Neither contains a
 * credential, or more of a signed URL than its origin. An aborted call rejects with the reason of its signal
 * instead.
 */
export abstract class ClientError extends Error {
  abstract readonly code: string;
}

/** The input is invalid; nothing was sent. Paths of `problems` in the body start with `body`. */
export class InvalidRequestError extends ClientError {
  override readonly name = 'InvalidRequestError';
  readonly code = 'invalid_request';
  /** Each with its path in the input, and a sentence without its subject. */
  readonly problems: readonly { readonly path: Problem['path']; readonly message: string }[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${path.join('.') || 'input'} ${message}`).join('; '));
    this.problems = problems.map(({ path, message }) => ({ path, message: String(message) }));
  }
}

/** The problems of a request. Paths are dotted: `node_versions.3.version`. */
export type ErrorDetails = readonly { readonly path: string; readonly message: string }[];

/** A code of the service, `http_<status>`, or one that this version does not know. */
export type ServiceErrorCode = ErrorCode | `http_${number}` | (string & {});

export interface ServiceFailure {
  readonly code: ServiceErrorCode;
  readonly status: number;
  readonly message: string;
  readonly details?: ErrorDetails | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** The service answered with an error. */
export class ServiceError extends ClientError {
  override readonly name = 'ServiceError';
  /** The code of the service, or `http_<status>` if its response had none. */
  readonly code: ServiceErrorCode;
  readonly status: number;
  readonly details: ErrorDetails;
  /** Identifies the request in the logs of the service. */
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
  /** The service led to an address that it may not name. */
  'address' | 'refused' | 'dns' | 'unreachable' | 'reset' | 'tls' | 'proxy' | 'timeout' | 'failed';

/** No complete response arrived. */
export class NetworkError extends ClientError {
  override readonly name = 'NetworkError';
  /** The address of the proxy, without its credential, if the proxy could not be reached. */
  readonly proxy: string | undefined;
  /**
   * @param sent whether the request reached the service: `true` (it began to answer), `false` (it did not),
   *   `'unknown'` (it may have, and may have been carried out)
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

export type ResponseCode =
  | 'not_json'
  | 'empty'
  | 'unexpected'
  | 'too_large'
  | 'too_deep'
  | 'redirect'
  | 'changed';

/** A response arrived that cannot be used. */
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

/** Waiting timed out; the work continues. `last` is the latest answer, if there was one. */
export class StillRunningError extends ClientError {
  override readonly name = 'StillRunningError';
  readonly code = 'still_running';
  constructor(readonly last: unknown) {
    super('Stopped waiting; the work is still running.');
  }
}
