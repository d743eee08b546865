import { ClientError, InvalidRequestError, NetworkError, ServiceError } from '../../client/errors.js';
import { errorCodes } from '../../contract/errors.js';
import { PackError } from '../../pack/problem.js';
import { formatDuration } from '../terminal/duration.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { toInvalidFailure } from './request.js';

/** Any error as a person and a script hear of it. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof ServiceError) return ofService(error);
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
          : 'Check the address and the network; `regen auth status` shows where commands go.',
    });
  }
  if (error instanceof ClientError) {
    return new Failure(error.message, { code: error.code, exit: exitCodes.unreachable });
  }
  if (error instanceof PackError) {
    return new Failure(error.message, { code: 'invalid_pack', exit: exitCodes.usage });
  }
  return ofSystem(error as NodeJS.ErrnoException);
}

function ofService(error: ServiceError): Failure {
  const known = (errorCodes as Record<string, { exit: number }>)[error.code];
  const exit = known?.exit ?? exitOfStatus(error.status);
  const hint = error.retryAfterMs ? `Try again in ${formatDuration(error.retryAfterMs)}.` : hints[exit];
  return new Failure(error.message, {
    code: error.code,
    exit,
    status: error.status,
    ...(hint && { hint }),
    ...(error.requestId && { requestId: error.requestId }),
    ...(error.details.length > 0 && { details: error.details }),
  });
}

const hints: Record<number, string> = {
  [exitCodes.notAllowed]: '`regen auth status` shows who you are there; `regen auth login` signs in.',
  [exitCodes.unreachable]: 'Try again in a while.',
  [exitCodes.unexpected]: 'Please report it, with the request id.',
};

/** Where the code is not known to this version, the status says what kind of end it was. */
function exitOfStatus(status: number): number {
  if (status === 401 || status === 403) return exitCodes.notAllowed;
  if (status === 404) return exitCodes.notFound;
  if (status === 409) return exitCodes.conflict;
  if (status === 429 || status >= 502) return exitCodes.unreachable;
  return status < 500 ? exitCodes.usage : exitCodes.unexpected;
}

/** Failures of the machine a person can do something about; anything else is a bug. */
const systemErrors: Record<string, string> = {
  ENOENT: 'There is no such file or folder',
  EACCES: 'Access is denied',
  EPERM: 'Access is denied',
  EISDIR: 'That is a folder, not a file',
  ENOTDIR: 'That is a file, not a folder',
  EROFS: 'The disk is read-only',
  ENOSPC: 'The disk is full',
  EDQUOT: 'The disk quota is used up',
  EMFILE: 'Too many files are open',
  EEXIST: 'Something else is there already',
  ENAMETOOLONG: 'A name is too long for the file system',
  ELOOP: 'Symbolic links lead to each other',
  EADDRNOTAVAIL: 'That address is not one of this machine',
};

function ofSystem(error: NodeJS.ErrnoException): Failure {
  const sentence = error.code && systemErrors[error.code];
  if (sentence) {
    // A full disk is nobody's wrong usage, and no bug either.
    const exit = ['ENOSPC', 'EDQUOT', 'EMFILE'].includes(error.code as string)
      ? exitCodes.unexpected
      : exitCodes.usage;
    const isOwnFolder = error.code !== 'ENOENT' && /[/\\]regen([/\\]|$)/.test(error.path ?? '');
    const place = error.path ?? (error as { address?: string }).address;
    return new Failure(`${sentence}${place ? `: ${place}` : ''}.`, {
      code: error.code as string,
      exit,
      ...(isOwnFolder && { hint: 'XDG_DATA_HOME, XDG_STATE_HOME and XDG_CONFIG_HOME choose other folders.' }),
    });
  }
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Failure(`Unexpected failure: ${what}`, {
    code: 'unexpected',
    exit: exitCodes.unexpected,
    hint: 'This is a bug in regen; please report it.',
  });
}
