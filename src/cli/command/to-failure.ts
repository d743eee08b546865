import { ClientError, InvalidRequestError, NetworkError, ServiceError } from '../../client/errors.js';
import { errorCodes } from '../../contract/error-codes.js';
import type { Naming } from '../../contract/naming/naming.js';
import { FlowError } from '../../flows/flow-error.js';
import { PackError } from '../../pack/problem.js';
import { formatDuration } from '../terminal/duration.js';
import { exitCodes, Failure, SIGN_IN_HINT } from '../terminal/failure.js';
import type { ArgumentValues, Command, ParsedCommand } from './command.js';
import { toFlowFailure } from './flow-failure.js';
import { formatFieldName, toInvalidFailure } from './request.js';

/** Converts any error to a failure with a message, a hint and an exit code. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof FlowError) return toFlowFailure(error);
  if (error instanceof ServiceError) return toServiceFailure(error);
  if (error instanceof InvalidRequestError) {
    return toInvalidFailure(error.problems.map(({ path, message }) => ({ path: path.join('.'), message })));
  }
  if (error instanceof NetworkError) {
    return new Failure(error.message, {
      code: error.code,
      exit: exitCodes.unreachable,
      hint:
        error.code === 'timeout'
          ? 'Try again, or allow more time with --request-timeout.'
          : 'Check the address and the network. `regen auth status` shows the service in use.',
    });
  }
  if (error instanceof ClientError) {
    return new Failure(error.message, { code: error.code, exit: exitCodes.unreachable });
  }
  if (error instanceof PackError) {
    return new Failure(error.message, { code: 'invalid_pack', exit: exitCodes.usage });
  }
  return toSystemFailure(error as NodeJS.ErrnoException);
}

function toServiceFailure(error: ServiceError): Failure {
  const known = (errorCodes as Record<string, { exit: number }>)[error.code];
  const exit = known?.exit ?? chooseExit(error.status);
  const hint = error.retryAfterMs
    ? `Try again in ${formatDuration(error.retryAfterMs)}.`
    : error.code === 'unauthenticated'
      ? SIGN_IN_HINT
      : HINTS[exit];
  return new Failure(error.message, {
    code: error.code,
    exit,
    status: error.status,
    ...(hint && { hint }),
    ...(error.requestId && { requestId: error.requestId }),
    ...(error.details.length > 0 && { details: error.details }),
  });
}

const HINTS: Record<number, string> = {
  [exitCodes.notAllowed]: 'See who is signed in: regen auth status',
  [exitCodes.unreachable]: 'Try again later.',
  [exitCodes.unexpected]: 'Please report this with the request id.',
};

/** Chooses the exit code by status, for error codes that this version does not know. */
function chooseExit(status: number): number {
  if (status === 401 || status === 403) return exitCodes.notAllowed;
  if (status === 404) return exitCodes.notFound;
  if (status === 409) return exitCodes.conflict;
  if (status === 429 || status >= 502) return exitCodes.unreachable;
  return status < 500 ? exitCodes.usage : exitCodes.unexpected;
}

/** System errors that the user can fix; anything else is a bug. */
const SYSTEM_ERRORS: Record<string, string> = {
  ENOENT: 'No such file or folder',
  EACCES: 'Permission denied',
  EPERM: 'Permission denied',
  EISDIR: 'Expected a file, but found a folder',
  ENOTDIR: 'Expected a folder, but found a file',
  EROFS: 'The disk is read-only',
  ENOSPC: 'The disk is full',
  EDQUOT: 'The disk quota is exceeded',
  EMFILE: 'Too many files are open; raise the limit (ulimit -n) and try again',
  ENFILE: 'Too many files are open; raise the limit (ulimit -n) and try again',
  ENAMETOOLONG: 'A name is too long for the file system',
  ELOOP: 'Symbolic links lead to each other',
  EEXIST: 'The file or folder already exists',
  EADDRNOTAVAIL: 'This machine does not have the address',
};

// Neither wrong usage nor a bug: it works again once there is room.
const EXHAUSTED = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'];

function toSystemFailure(error: NodeJS.ErrnoException): Failure {
  const sentence = error.code && SYSTEM_ERRORS[error.code];
  if (sentence) {
    const exit = EXHAUSTED.includes(error.code as string) ? exitCodes.unreachable : exitCodes.usage;
    const isOwnFolder = error.code !== 'ENOENT' && /[/\\]regen([/\\]|$)/.test(error.path ?? '');
    const place = error.path ?? (error as { address?: string }).address;
    return new Failure(`${sentence}${place ? `: ${place}` : ''}.`, {
      code: error.code as string,
      exit,
      ...(isOwnFolder && {
        hint: 'Set XDG_DATA_HOME, XDG_STATE_HOME and XDG_CONFIG_HOME to use other folders.',
      }),
    });
  }
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Failure(`Unexpected error: ${what}`, {
    code: 'unexpected',
    exit: exitCodes.unexpected,
    hint: 'This is a bug in regen; please report it.',
  });
}

/**
 * Replaces the field names in a refusal of the service by flags and arguments: `--duration` for `duration`.
 * @param naming the names of the service, in which the failure is told
 */
export function useCommandLineNames(
  failure: Failure,
  { command, args, flags }: ParsedCommand,
  naming?: Naming,
): Failure {
  const speak = (sentence: string) => naming?.speak(sentence) ?? sentence;
  let { message } = failure;
  const details = failure.facts.details?.map((detail) => {
    // With --body the user wrote the field names.
    if (flags.body !== undefined) return { path: speak(detail.path), message: speak(detail.message) };
    const keys = detail.path.split('.').map((key) => naming?.renameField(key) ?? key);
    const path = formatPath(keys.join('.'), command, args);
    message = message.replace(`${detail.path} ${detail.message}`, () => `${path} ${detail.message}`);
    return { path: speak(path), message: speak(detail.message) };
  });
  return new Failure(speak(message), { ...failure.facts, ...(details && { details }) });
}

function formatPath(path: string, command: Command, args: ArgumentValues): string {
  const keys = path.split('.');
  const parts = ['body', 'query', 'params'];
  const candidates = parts.includes(keys[0] as string) ? [keys] : parts.map((part) => [part, ...keys]);
  const own = candidates.find((candidate) =>
    [...command.arguments, ...command.flags].some(({ target }) =>
      target?.every((key, at) => key === candidate[at]),
    ),
  );
  return own ? formatFieldName(own, command, false, args) : path;
}
