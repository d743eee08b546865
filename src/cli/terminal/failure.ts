/** The exit codes of the command line. contract/errors.ts maps the errors of the service to them. */
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
  /** Stable, for scripts: the code of the service, or of the command line. */
  readonly code: string;
  readonly exit: number;
  /** What to do about it, in one line. */
  readonly hint?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

/** An error that is reported to the user. The message says what failed, in one line. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    message: string,
    readonly facts: FailureFacts,
  ) {
    super(message);
  }
}

/** Creates a failure for wrong usage; nothing was sent. */
export function usage(message: string, hint?: string, details?: FailureFacts['details']): Failure {
  return new Failure(message, {
    code: 'usage',
    exit: exitCodes.usage,
    ...(hint && { hint }),
    ...(details && { details }),
  });
}

/** How to sign in, as a hint. */
export const SIGN_IN_HINT =
  'Sign in with `regen auth login`, or with a token: regen auth login --with-token < token.txt';
