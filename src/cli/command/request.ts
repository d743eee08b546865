import type { Operation } from '../../contract/operation.js';
import { check } from '../../contract/schema/check.js';
import { leaves, valueFromText } from '../../contract/schema/leaves.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { Argument, ArgumentValues, Command, Flag, FlagValues, ValueType } from './command.js';

/** A request's parts as they will be sent. */
export interface Request {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

type Part = keyof Request;

/** One thing that is wrong, in the words of the command line. */
export interface FailureDetail {
  readonly path: string;
  readonly message: string;
}

/** Puts what was typed in its place. Values that are not of their field's type stay text, for the schema to judge. */
export function buildRequest(
  command: Command,
  args: ArgumentValues,
  flags: FlagValues,
  body?: unknown,
): Request {
  const request = { params: {}, query: {}, body: undefined as unknown };
  for (const [place, value] of Object.entries(command.fixed ?? {}))
    putValue(request, place.split('.'), value);
  const given = [
    ...command.arguments.map((argument) => ({ place: argument, value: args[argument.name] })),
    ...command.flags.map((flag) => ({ place: flag, value: flags[flag.name] })),
  ].filter(({ place, value }) => place.target && value !== undefined);
  const filled = new Map<string, Argument | Flag>();
  for (const { place, value } of given) {
    const target = place.target as readonly string[];
    const before = filled.get(target.join('.'));
    if (before)
      throw usage(`${formatPlace(before)} and ${formatPlace(place)} say the same thing; give one of them.`);
    if (target[0] === 'body' && body !== undefined) {
      throw usage(
        `${formatPlace(place)} and --body exclude each other.`,
        'Write the whole body, or use flags alone.',
      );
    }
    filled.set(target.join('.'), place);
    putValue(request, target, parseValue(place.type, value as string | boolean | readonly string[]));
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
  if (typeof value !== 'string') return value.map((text) => valueFromText(type.items ?? type, text));
  if (type.type !== 'object') return valueFromText(type, value);
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/**
 * Holds a request against its operation.
 * @throws Failure naming everything that is wrong, in the words of the command line
 */
export function checkRequest(
  operation: Operation,
  command: Command,
  request: Request,
  bodyGiven: boolean,
  args: ArgumentValues = {},
): void {
  const problems = requestProblems(operation, command, request, { bodyGiven, args });
  if (problems.length > 0) throw toInvalidFailure(problems);
}

/**
 * Everything wrong with a request, in the words of the command line.
 * @param asked whether the body was given whole, and the service's address for rules that depend on it
 */
export function requestProblems(
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
  const called = (path: readonly string[]) => formatFieldName(path, command, bodyGiven, args);
  const problems = [
    ...findProblems('params', operation.params, request.params, called),
    ...findProblems('query', operation.query, request.query, called),
    ...findProblems('body', operation.body, body, called, service),
  ];
  return problems.map(({ path, message }) => ({ path: called(path.map(String)), message }));
}

/** Everything wrong with what was typed; nothing was sent. */
export function toInvalidFailure(details: readonly FailureDetail[]): Failure {
  const [first] = details;
  const message =
    first && details.length === 1
      ? `${first.path} ${first.message}.`
      : `${details.length} things are wrong; nothing was sent.`;
  return new Failure(message, { code: 'invalid_request', exit: exitCodes.usage, details });
}

function findProblems(
  part: Part,
  schema: Operation['body'],
  value: unknown,
  called: (path: readonly string[]) => string,
  service?: string,
): Problem[] {
  if (!schema) return [];
  const result = check(schema, value, {
    name: (field) => called([part, field]),
    ...(service && { service }),
  });
  if (result.ok) return [];
  return result.problems.map(({ path, message }) => ({ path: [part, ...path], message }));
}

/** What a place of the request is called on the command line. */
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
  if (argument && (argument.required || wasTyped || !flag)) return formatPlace(argument);
  return flag ? formatPlace(flag) : path.slice(1).join('.');
}

function formatPlace(place: Argument | Flag): string {
  return 'variadic' in place ? `<${place.name}>` : `--${place.name}`;
}

/** Fields of a whole body that the service will not take: unknown to it, or set by itself. */
export function ignoredFields(operation: Operation, body: unknown): string[] {
  if (!operation.body || !('shape' in operation.body) || typeof body !== 'object' || body === null) return [];
  const fields = leaves(operation.body as Operation['params']);
  return Object.keys(body).filter((name) => !fields[name] || fields[name].readOnly);
}
