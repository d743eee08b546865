import { z } from 'zod';
import { removeNulls } from '../contract/json.js';
import type { Method, Operation, PathNames } from '../contract/operation.js';
import { checkValue } from '../contract/schema/check.js';
import { findWrongKind } from '../contract/schema/kinds.js';
import type { RuleContext } from '../contract/schema/rule.js';
import type { Problem } from '../contract/schema/schema-types.js';
import { InvalidRequestError, ResponseError } from './errors.js';
import type { Answer } from './transport.js';
import { findPathProblems, type Query } from './url.js';

type Declared<Schema> = Exclude<Schema, undefined>;

type BodyInput<Schema> = [Schema] extends [never]
  ? unknown
  : undefined extends z.input<Extract<Schema, z.ZodType>>
    ? { body?: z.input<Extract<Schema, z.ZodType>> }
    : { body: z.input<Extract<Schema, z.ZodType>> };

/** The input of a call: path and query parameters side by side, and the body as `body`. */
export type Input<Op extends Operation> = { [Name in PathNames<Op['path']>]: string } & ([
  Declared<Op['query']>,
] extends [never]
  ? unknown
  : z.input<Extract<Op['query'], z.ZodObject>>) &
  BodyInput<Declared<Op['body']>>;

/** The result of a call; undefined if the operation answers without a body. */
export type Output<Op extends Operation> = [Declared<Op['response']>] extends [never]
  ? undefined
  : z.output<Extract<Op['response'], z.ZodType>>;

/** A request without the address of the service and the credential. */
export interface PreparedRequest {
  readonly method: Method;
  /** With the names of `params` in braces. */
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Query;
  readonly body: unknown;
}

/**
 * Converts an input to a request. The input is checked and sent unchanged, without defaults.
 * @param service the base address of the service, for rules that depend on it
 * @throws InvalidRequestError with everything that is wrong
 */
export function prepareRequest<Op extends Operation>(
  operation: Op,
  input: Input<Op>,
  service?: string,
): PreparedRequest {
  const { body, ...given } = (input ?? {}) as Record<string, unknown>;
  const params = pickFields(given, Object.keys(operation.params.shape));
  const query = pickFields(given, Object.keys(operation.query?.shape ?? {}));
  const invalid = findProblems(operation.params, params);
  const problems = [
    ...(invalid.length > 0 ? invalid : findPathProblems(operation.path, params)),
    ...(operation.query ? findProblems(operation.query, query) : []),
    ...(operation.body
      ? findProblems(operation.body, body, service === undefined ? {} : { service }).map(moveIntoBody)
      : []),
    ...findUnknownFields(operation, body === undefined ? given : { ...given, body }),
  ];
  if (problems.length > 0) throw new InvalidRequestError(problems);
  const { method, path } = operation;
  return { method, path, params, query: query as Query, body };
}

function findProblems(schema: z.ZodType, value: unknown, context: RuleContext = {}): Problem[] {
  const checked = checkValue(schema, value, context);
  return checked.ok ? [] : checked.problems;
}

const moveIntoBody = ({ path, message }: Problem): Problem => ({ path: ['body', ...path], message });

function findUnknownFields({ params, query, body }: Operation, given: Record<string, unknown>): Problem[] {
  const known = { ...params.shape, ...query?.shape, ...(body ? { body } : {}) };
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  return unknown.map((name) => ({ path: [name], message: 'is not a known field' }));
}

function pickFields(values: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]]),
  );
}

/**
 * Requires an answer to have the kinds of values that its schema declares: 'no nodes' must not be what a
 * captive portal or another API looks like. Null counts as absent. Texts, numbers and enum values are not
 * checked, so that a newer service may answer more than is known here.
 * @throws ResponseError unexpected
 */
export function requireShape({ url, status }: Answer, schema: z.ZodType, data: unknown): void {
  if (schema.safeParse(data).success && !isEmptyObject(schema, data)) return;
  const given = removeNulls(data);
  const path = findWrongKind(schema, given);
  if (!path && !isEmptyObject(schema, given)) return;
  const where = path && path.length > 0 ? ` ('${path.join('.')}' is missing or of another type)` : '';
  const message = `${url.origin} answered ${status} with JSON of another shape than expected${where}. Is the address right?`;
  throw new ResponseError('unexpected', message, status);
}

/** Where every field is optional, `{}` would pass for an answer. */
function isEmptyObject(schema: z.ZodType, data: unknown): boolean {
  if (!(schema instanceof z.ZodObject) || typeof data !== 'object' || data === null) return false;
  return Object.keys(schema.shape).every((name) => !Object.hasOwn(data, name));
}
