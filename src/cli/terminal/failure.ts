/** The command line's own exit codes; those of the service's errors stand in contract/errors.ts. */
export const exitCodes = {
  done: 0,
  unexpected: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  conflict: 5,
  endedBadly: 6,
  unreachable: 7,
  stillGoing: 8,
  someFailed: 9,
  interrupted: 130,
  terminated: 143,
} as const;

export interface FailureFacts {
  /** Stable, for scripts: the service's code, or one of the command line's. */
  readonly code: string;
  readonly exit: number;
  /** What to do about it, one line. */
  readonly hint?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

/** An end that is not a success, as a person and a script hear of it. The message says what failed, one line. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    message: string,
    readonly facts: FailureFacts,
  ) {
    super(message);
  }
}

/** Wrong usage: nothing was sent. */
export function usage(message: string, hint?: string, details?: FailureFacts['details']): Failure {
  return new Failure(message, {
    code: 'usage',
    exit: exitCodes.usage,
    ...(hint && { hint }),
    ...(details && { details }),
  });
}
