import type { ErrorCode } from '../../contract/error-codes.js';
import {
  describeProblems,
  MAX_PROBLEMS,
  type NamedProblem,
  say,
  type Text,
} from '../../contract/schema/message.js';

/** A request that is refused. The HTTP layer answers it with the status of the code and this message. */
export class Refused extends Error {
  override readonly name = 'Refused';

  /** @param text one sentence: what is wrong and what to do */
  constructor(
    readonly code: ErrorCode,
    /** The message with the names in it. */
    readonly text: Text,
    readonly details?: readonly NamedProblem[],
    /** When to try again, if that may help. Seconds. */
    readonly retryAfterSeconds?: number,
  ) {
    super(String(text));
  }
}

/** Whether a request was refused because what it is about does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Refused && error.code === 'not_found';
}

/** Whether a request was refused because another service that it needs does not answer. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Refused && error.code === 'unavailable';
}

/**
 * @param message continues its name
 * @param name how the sentence names it
 */
export function invalidField(path: string, message: Text, name?: string): Refused {
  return new Refused('invalid_request', say`${name ?? { field: path }} ${message}.`, [{ path, message }]);
}

/** A request with problems, of which a limited number is listed. */
export function invalidFields(problems: readonly NamedProblem[]): Refused {
  const details = problems.slice(0, MAX_PROBLEMS);
  return new Refused('invalid_request', describeProblems(details), details);
}
