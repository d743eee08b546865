import type { Operation } from '../../contract/operation.js';
import { checkValue } from '../../contract/schema/check.js';
import { describeFields, parseText } from '../../contract/schema/fields.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { Argument, ArgumentValues, Command, Flag, FlagValues, ValueType } from './command.js';

/** The parts of a request as they will be sent. */
export interface Request {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

type Part = keyof Request;

/** One problem, with the name of the flag or argument. */
export interface FailureDetail {
  readonly path: string;
  readonly message: string;
}

/** Builds a request from arguments and flags. A value that cannot be converted stays text, and the schema rejects it. */
export function buildRequest(
  command: Command,
  args: ArgumentValues,
  flags: FlagValues,
  body?: unknown,
): Request {
  const request = { params: {}, query: {}, body: undefined as unknown };
  for (const [path, value] of Object.entries(command.fixed ?? {})) putValue(request, path.split('.'), value);
  const given = [
    ...command.arguments.map((argument) => ({ source: argument, value: args[argument.name] })),
    ...command.flags.map((flag) => ({ source: flag, value: flags[flag.name] })),
  ].filter(({ source, value }) => source.target && value !== undefined);
  const filled = new Map<string, Argument | Flag>();
  for (const { source, value } of given) {
    const target = source.target as readonly string[];
    const before = filled.get(target.join('.'));
    if (before)
      throw usage(
        `${formatName(before)} and ${formatName(source)} set the same value; use only one of them.`,
      );
    if (target[0] === 'body' && body !== undefined) {
      throw usage(
        `${formatName(source)} and --body cannot be used together.`,
        'Put the value in the body, or use only flags.',
      );
    }
    filled.set(target.join('.'), source);
    putValue(request, target, parseValue(source.type, value as string | boolean | readonly string[]));
  }
  if (body !== undefined) request.body = body;
  return request;
}

function putValue(into: Record<string, unknown>, [key, ...rest]: readonly string[], value: unknown): void {
  if (key === undefined) return;
  if (rest.length === 0) into[key] = value;
  else {
    into[key] ??= {};
    putValue(into[key] as Record<string, unknown>, rest, value);
  }
}

function parseValue(type: ValueType | undefined, value: string | boolean | readonly string[]): unknown {
  if (typeof value === 'boolean' || !type) return value;
  if (typeof value !== 'string') return value.map((text) => parseText(type.items ?? type, text));
  if (type.type !== 'object') return parseText(type, value);
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/**
 * Checks a request against its operation.
 * @throws Failure with all problems, with the names of flags and arguments
 */
export function checkRequest(
  operation: Operation,
  command: Command,
  request: Request,
  bodyGiven: boolean,
  args: ArgumentValues = {},
): void {
  const problems = findRequestProblems(operation, command, request, { bodyGiven, args });
  if (problems.length > 0) throw toInvalidFailure(problems);
}

/**
 * Lists all problems of a request, with the names of flags and arguments.
 * @param options whether the whole body was given, and the address of the service for rules that depend on it
 */
export function findRequestProblems(
  operation: Operation,
  command: Command,
  request: Request,
  {
    bodyGiven,
    service,
    args = {},
  }: { readonly bodyGiven: boolean; readonly service?: string; readonly args?: ArgumentValues },
): FailureDetail[] {
  const body = operation.body ? (request.body ?? {}) : undefined;
  const formatPath = (path: readonly string[]) => formatFieldName(path, command, bodyGiven, args);
  const problems = [
    ...findProblems('params', operation.params, request.params, formatPath),
    ...findProblems('query', operation.query, request.query, formatPath),
    ...findProblems('body', operation.body, body, formatPath, service),
  ];
  return problems.map(({ path, message }) => ({ path: formatPath(path.map(String)), message }));
}

/** The failure for problems that were found before sending anything. */
export function toInvalidFailure(details: readonly FailureDetail[]): Failure {
  const [first] = details;
  const message =
    first && details.length === 1
      ? `${first.path} ${first.message}.`
      : `${details.length} problems; nothing was sent.`;
  return new Failure(message, { code: 'invalid_request', exit: exitCodes.usage, details });
}

function findProblems(
  part: Part,
  schema: Operation['body'],
  value: unknown,
  formatPath: (path: readonly string[]) => string,
  service?: string,
): Problem[] {
  if (!schema) return [];
  const result = checkValue(schema, value, {
    name: (field) => formatPath([part, field]),
    ...(service && { service }),
  });
  if (result.ok) return [];
  return result.problems.map(({ path, message }) => ({ path: [part, ...path], message }));
}

/** Formats the name that a field of the request has on the command line. */
export function formatFieldName(
  path: readonly string[],
  command: Command,
  bodyGiven: boolean,
  args: ArgumentValues = {},
): string {
  if (bodyGiven && path[0] === 'body') return path.join('.');
  const fits = ({ target }: Argument | Flag) => target?.every((key, index) => key === path[index]);
  const argument = command.arguments.find(fits);
  const flag = command.flags.find(fits);
  const wasTyped = argument && args[argument.name] !== undefined;
  if (argument && (argument.required || wasTyped || !flag)) return formatName(argument);
  return flag ? formatName(flag) : path.slice(1).join('.');
}

function formatName(source: Argument | Flag): string {
  return 'variadic' in source ? `<${source.name}>` : `--${source.name}`;
}

/** Lists the fields of a whole body that the service ignores: unknown or read-only ones. */
export function listIgnoredFields(operation: Operation, body: unknown): string[] {
  if (!operation.body || !('shape' in operation.body) || typeof body !== 'object' || body === null) return [];
  const fields = describeFields(operation.body as Operation['params']);
  return Object.keys(body).filter((name) => !fields[name] || fields[name].readOnly);
}
