import { errorCodes } from '../../contract/error-codes.js';
import { failureCodes } from './failure-codes.js';

/** The exit codes of the command line. contract/error-codes.ts maps the errors of the service to them. */
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

export type FailureCode = keyof typeof failureCodes;

export interface FailureFacts {
  /** Stable, for scripts: the code of the service, or of the command line. */
  readonly code: string;
  readonly exit: number;
  /** What to do about it, in one line. */
  readonly hint?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly details?: readonly FailureDetail[];
}

/** One of several problems: a predicate after its place, or a sentence. */
export interface FailureDetail {
  readonly path: string;
  readonly message: string;
}

/** An error that is reported to the user. The message says what failed, in one line. */
export class Failure extends Error {
  override readonly name = 'Failure';

  readonly facts: FailureFacts;

  /** @param facts without an exit code, it has that of its code */
  constructor(message: string, facts: Omit<FailureFacts, 'exit'> & { readonly exit?: number }) {
    super(message);
    this.facts = { ...facts, exit: facts.exit ?? findExit(facts.code) };
  }
}

export function findExit(code: string): number {
  const known: Readonly<Record<string, { readonly exit: number } | undefined>> = errorCodes;
  const own: Readonly<Record<string, { readonly exits: readonly number[] } | undefined>> = failureCodes;
  return own[code]?.exits[0] ?? known[code]?.exit ?? exitCodes.unexpected;
}

/** Writes one problem: a predicate after its place, or a sentence after its place and a colon. */
export function formatDetail({ path, message }: FailureDetail, bold = (text: string) => text): string {
  return `${bold(path)}${/^\p{Lu}/u.test(message) ? ':' : ''} ${message}`;
}

/** Creates a failure for wrong usage; nothing was sent. */
export function usage(message: string, hint?: string, details?: FailureFacts['details']): Failure {
  return new Failure(message, {
    code: 'usage',
    ...(hint && { hint }),
    ...(details && { details }),
  });
}

export const SIGN_IN_HINT =
  'Sign in with `regen auth login`, or with a token: regen auth login --with-token < token.txt';
