import { errorCodes } from '../../contract/error-codes.js';
import { type NamedProblem, regen, say, type Text } from '../../contract/schema/message.js';
import { type FailureCode, failureCodes } from './failure-codes.js';

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

export interface FailureFacts {
  /** Stable, for scripts: the code of the service, or of the command line. */
  readonly code: string;
  readonly exit: number;
  /** What to do about it, in one line. */
  readonly hint?: Text;
  /** Why a task failed; the message also names the task. */
  readonly reason?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly details?: readonly FailureDetail[];
}

/** One of several problems: a predicate after its place, or a sentence. */
export type FailureDetail = NamedProblem;

/** An error that is reported to the user. The message says what failed, in one line. */
export class Failure extends Error {
  override readonly name = 'Failure';

  readonly facts: FailureFacts;

  /**
   * @param text the message with the names in it
   * @param facts without an exit code, it has that of its code
   */
  constructor(
    readonly text: Text,
    facts: Omit<FailureFacts, 'exit'> & { readonly exit?: number },
  ) {
    super(String(text));
    this.facts = { ...facts, exit: facts.exit ?? findExit(facts.code) };
  }
}

export function findExit(code: string): number {
  const [, own] = Object.hasOwn(failureCodes, code) ? failureCodes[code as FailureCode] : [];
  const known = (errorCodes as Readonly<Record<string, { readonly exit: number }>>)[code];
  return own ?? known?.exit ?? exitCodes.unexpected;
}

/** Writes one problem: a predicate after its place, or a sentence after its place and a colon. It may have no place. */
export function formatDetail({ path, message }: FailureDetail, bold = (text: string) => text): string {
  if (path === '') return String(message);
  return `${bold(path)}${/^\p{Lu}|\.$/u.test(String(message)) ? ':' : ''} ${message}`;
}

/** Creates a failure for wrong usage; nothing was sent. */
export function usage(message: Text, hint?: Text, details?: FailureFacts['details']): Failure {
  return new Failure(message, {
    code: 'usage',
    ...(hint && { hint }),
    ...(details && { details }),
  });
}

export const SIGN_IN_HINT = say`Sign in with \`${regen('auth login')}\`, or with a token: ${regen('auth login', '--with-token < token.txt')}`;
