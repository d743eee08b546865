import { ClientError, InvalidRequestError, NetworkError, ServiceError } from '../../client/errors.js';
import { type ErrorCode, errorCodes } from '../../contract/error-codes.js';
import {
  describeProblems,
  type NamedProblem,
  regen,
  say,
  type Text,
  translate,
} from '../../contract/schema/message.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { isSemanticVersion } from '../../contract/schema/semantic-version.js';
import { UnfitFileError } from '../../disk/folder-file.js';
import { FlowError } from '../../flows/flow-error.js';
import { PackError } from '../../pack/problem.js';
import { formatDuration } from '../terminal/duration.js';
import { exitCodes, Failure, SIGN_IN_HINT, usage } from '../terminal/failure.js';
import type { FailureCode } from '../terminal/failure-codes.js';
import type { Interruption } from '../terminal/interrupted.js';
import { formatName } from './build-request.js';
import type { ParsedCommand } from './command.js';
import { toKebabCase } from './flags.js';
import { toFlowFailure } from './flow-failures.js';
import { formatFieldName, toInvalidFailure } from './request.js';

/**
 * Converts any error to a failure with a message, a hint and an exit code.
 * @param parsed the command line, whose flags and arguments problems are named by
 * @param resume how to continue after a request whose response was lost
 */
export function toFailure(error: unknown, parsed?: ParsedCommand, resume?: Resume): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof FlowError) return toFlowFailure(error, parsed);
  if (error instanceof ServiceError) return toServiceFailure(error, parsed, resume);
  if (error instanceof InvalidRequestError) {
    const problems = error.problems.map(({ path, message }) => ({ path: path.join('.'), message }));
    return toInvalidFailure(nameProblems(problems, parsed));
  }
  if (error instanceof NetworkError) {
    return new Failure(error.message, {
      code: error.code,
      exit: exitCodes.unreachable,
      hint: chooseNetworkHint(error, resume),
    });
  }
  if (error instanceof ClientError) {
    const { code, message } = error;
    return new Failure(message, {
      code,
      exit: exitCodes.unreachable,
      ...(resume?.hint && { hint: resume.hint }),
    });
  }
  if (error instanceof UnfitFileError) {
    return new Failure(`${error.message}.`, { code: error.code, exit: exitCodes.usage });
  }
  if (error instanceof PackError) {
    return new Failure(error.message, { code: 'invalid_pack' });
  }
  return toOwnServiceFailure(error) ?? toSystemFailure(error as NodeJS.ErrnoException);
}

/** How to continue, and whether the command changes something on the service. */
type Resume = Pick<Interruption, 'hint' | 'hasBegun'> & { readonly isChanging?: boolean | undefined };

function chooseNetworkHint(
  { code, sent }: NetworkError,
  { hint, hasBegun, isChanging }: Partial<Resume> = {},
): Text {
  const isTimeout = code === 'timeout';
  if (hint && (hasBegun || sent !== false))
    return isTimeout ? say`Allow more time with --request-timeout. ${hint}` : hint;
  if (isChanging && sent !== false)
    return 'The service may have received the request. Check whether it was carried out before you run the command again.';
  return isTimeout
    ? 'Try again, or allow more time with --request-timeout.'
    : 'Check the address and the network.';
}

function toServiceFailure(
  error: ServiceError,
  parsed: ParsedCommand | undefined,
  resume: Resume | undefined,
): Failure {
  const known = (errorCodes as Record<string, { exit: number }>)[error.code];
  const exit = known?.exit ?? chooseExit(error.status);
  const hint = error.retryAfterMs
    ? `Try again in ${formatDuration(error.retryAfterMs)}.`
    : known
      ? (suggestOrder(error, parsed) ??
        suggestSearch(error, parsed) ??
        suggestKey(error) ??
        suggestAdmin(error, parsed) ??
        suggestPublisher(error, parsed) ??
        HINTS[error.code as ErrorCode])
      : (exit === exitCodes.unreachable && resume?.hint) || EXIT_HINTS[exit];
  const details = nameProblems(error.details, parsed);
  // Another service may say more than its details.
  const isDescribed = error.message === String(describeProblems(error.details));
  return new Failure(isDescribed ? describeProblems(details) : error.message, {
    code: error.code,
    exit,
    status: error.status,
    ...(hint && { hint }),
    ...(error.requestId && { requestId: error.requestId }),
    ...(details.length > 0 && { details }),
  });
}

function suggestOrder({ code }: ServiceError, parsed: ParsedCommand | undefined): string | undefined {
  const node = parsed?.args.nodeId ?? parsed?.args.node_id;
  const isVersion = typeof node === 'string' && isSemanticVersion(node);
  return code === 'not_found' && isVersion ? `${node} is a version number; the node comes first.` : undefined;
}

/** On the embedded service, the first publish creates the publisher. */
function suggestPublisher({ code }: ServiceError, parsed: ParsedCommand | undefined): Text | undefined {
  if (code !== 'not_found' || parsed?.command.words.join(' ') !== 'publisher token create') return undefined;
  return say`Create it with: ${regen('publisher create', `${parsed.args.publisherId} --name <name>`)}`;
}

function suggestAdmin({ code }: ServiceError, parsed: ParsedCommand | undefined): Text | undefined {
  if (code !== 'unauthenticated' || parsed?.command.words[0] !== 'admin') return undefined;
  return say`Only an admin may do this. ${SIGN_IN_HINT}`;
}

/** The limits of an API key are not those of the operator. */
function suggestKey({ code, message }: ServiceError): Text | undefined {
  if (code === 'forbidden' && message.startsWith('This API key may only start '))
    return say`Its user can create one for others with: ${regen('key create', '<name> --operations <operations>')}`;
  if (code !== 'quota_exceeded' || !message.startsWith('The API key ')) return undefined;
  const flag = message.includes(' credits a month ') ? '--credits-per-month' : '--credits';
  const create = regen('key create', `<name> ${flag} <number>`);
  return say`The limit was set with the key: by --credits of regen exec, --max-credits of regen mcp, or ${create}`;
}

/** The listing of a publisher needs a credential even where anyone may read, because it has banned nodes as well. */
function suggestSearch({ code }: ServiceError, parsed: ParsedCommand | undefined): Text | undefined {
  if (code !== 'unauthenticated' || parsed?.command.words.join(' ') !== 'node list') return undefined;
  const search = regen('node search', `--publisher-id ${parsed.args.publisherId}`);
  return say`Sign in with \`${regen('auth login')}\`, or search, which needs no credential where anyone may read: ${search}`;
}

const WHO_HINT = say`See who is signed in: ${regen('auth status')}`;

/** What to do about an error of the service; those that are not here say it themselves. */
const HINTS: Readonly<Partial<Record<ErrorCode, Text>>> = {
  unauthenticated: SIGN_IN_HINT,
  invalid_personal_access_token: say`Owners create a token with: ${regen('publisher token create', '<publisher> <name>')}`,
  node_not_allowed: say`Owners create a token for this node with: ${regen('publisher token create', '<publisher> <name> --nodes <node>')}`,
  forbidden: WHO_HINT,
  not_offered: 'The operator of the registry sets its uplink rules; ask them.',
  admin_required: 'Ask an admin of the service, or sign in as one.',
  member_exists: say`Change the role with: ${regen('publisher member set', '<publisher> <email> <role>')}`,
  quota_exceeded: 'The operator of the service sets the quotas; an admin can raise the budget of a user.',
  invalid_signature: 'Run the command again to get a new link.',
  node_deleted: 'Choose another id.',
  upload_incomplete: 'Run the same command again to continue.',
  idempotency_in_flight: 'Try again in a few seconds.',
  rate_limited: 'Try again later.',
  internal: 'Try again later. If it persists, give the operator of the service the request id.',
  not_supported: 'Ask the operator of the service to change its setup; trying again does not help.',
  unavailable: 'Try again later.',
};

/** For error codes that this version does not know. */
const EXIT_HINTS: Readonly<Record<number, Text>> = {
  [exitCodes.notAllowed]: WHO_HINT,
  [exitCodes.unreachable]: 'Try again later.',
};

/** Chooses the exit code by status, for error codes that this version does not know. */
function chooseExit(status: number): number {
  if (status === 401 || status === 403) return exitCodes.notAllowed;
  if (status === 404) return exitCodes.notFound;
  if (status === 409) return exitCodes.conflict;
  // Below 400, such as 304, is not an answer to any request of the contract.
  const isUsage = status >= 400 && status < 500 && status !== 429;
  return isUsage ? exitCodes.usage : exitCodes.unreachable;
}

/** System errors that the user can fix; anything else is a bug. */
const SYSTEM_ERRORS: Record<string, string> = {
  ENOENT: 'File or folder not found',
  EACCES: 'Permission denied',
  EPERM: 'Permission denied',
  EISDIR: 'Expected a file, but found a folder',
  ENOTDIR: 'Expected a folder, but found a file',
  EROFS: 'The disk is read-only',
  ENOSPC: 'The disk is full',
  SQLITE_FULL: 'The disk is full',
  EDQUOT: 'The disk quota is exceeded',
  EFBIG: 'A file would be larger than the system allows',
  EMFILE: 'Too many files are open; raise the limit (ulimit -n) and try again',
  ENFILE: 'Too many files are open; raise the limit (ulimit -n) and try again',
  ENAMETOOLONG: 'A name is too long for the file system',
  ELOOP: 'Symbolic links lead to each other',
  EEXIST: 'The file or folder already exists',
  EADDRNOTAVAIL: 'This machine does not have the address',
};

// Neither wrong usage nor a bug: it works again once there is room.
const EXHAUSTED = ['ENOSPC', 'SQLITE_FULL', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE'];

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
    hint: 'This is a bug in regen; please report it.',
  });
}

/** Writes the problems that a service found with flags and arguments: `--duration` for `duration`. */
function nameProblems(problems: readonly NamedProblem[], parsed: ParsedCommand | undefined): NamedProblem[] {
  return problems.map(({ path, message }) => ({
    path: parsed ? formatPath(path, parsed) : path,
    message: parsed ? translate(message, { field: (field) => formatPath(field, parsed) }) : message,
  }));
}

function formatPath(path: string, parsed: ParsedCommand): string {
  const { command, flags } = parsed;
  // With --body the user wrote the field names.
  if (flags.body !== undefined) return path;
  const keys = path.split('.');
  const parts = ['body', 'query', 'params'];
  const candidates = parts.includes(keys[0] as string) ? [keys] : parts.map((part) => [part, ...keys]);
  const own = candidates.find((candidate) =>
    [...command.arguments, ...command.flags].some(({ target }) =>
      target?.every((key, at) => key === candidate[at]),
    ),
  );
  // Another service has another name for the field, which is that of a flag as well.
  const alias = command.flags.find(({ name }) => name === toKebabCase(path));
  return own ? formatFieldName(own, parsed, false) : alias ? formatName(alias) : path;
}

/** Every problem of a configuration, each with the name of its setting. */
export function toConfigurationFailure(problems: readonly Problem[]): Failure {
  const details = problems.map(({ path, about, message }) => ({
    path: about || path.join('.') || 'configuration',
    message,
  }));
  const [first] = details;
  return first && details.length === 1
    ? usage(`The configuration is not valid: ${first.path} ${first.message}.`, undefined, details)
    : usage(`The configuration has ${details.length} problems.`, undefined, details);
}

/** What the command line calls the errors of the service that it runs, by their codes. */
const SERVICE_ERRORS: Readonly<Record<string, FailureCode>> = {
  backup_refused: 'file_exists',
  data_unusable: 'data_unusable',
  folder_in_use: 'folder_in_use',
  owner_token_invalid: 'usage',
  port_taken: 'port_taken',
  out_of_resources: 'out_of_resources',
};

type ServiceStartError = NodeJS.ErrnoException & { readonly problems?: readonly Problem[] };

function toOwnServiceFailure(error: unknown): Failure | undefined {
  const { code: given = '', message, problems } = error as ServiceStartError;
  if (given === 'invalid_configuration') return toConfigurationFailure(problems ?? []);
  const code = SERVICE_ERRORS[given];
  return code && new Failure(message, { code, ...(code === 'file_exists' && { exit: exitCodes.conflict }) });
}
