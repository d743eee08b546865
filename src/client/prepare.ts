import type { z } from 'zod';
import type { Method, Operation, PathNames } from '../contract/operation.js';
import { check, type Problem } from '../contract/problems.js';
import type { Asker } from '../contract/rules/rule.js';
import { InvalidRequestError } from './errors.js';
import { fillPath, pathProblems, type Query } from './url.js';

type Declared<Schema> = Exclude<Schema, undefined>;

type BodyInput<Schema> = [Schema] extends [never]
  ? unknown
  : undefined extends z.input<Extract<Schema, z.ZodType>>
    ? { body?: z.input<Extract<Schema, z.ZodType>> }
    : { body: z.input<Extract<Schema, z.ZodType>> };

/** What a call takes: path and query parameters side by side, and the body under `body`. */
export type Input<Op extends Operation> = { [Name in PathNames<Op['path']>]: string } & ([
  Declared<Op['query']>,
] extends [never]
  ? unknown
  : z.input<Extract<Op['query'], z.ZodObject>>) &
  BodyInput<Declared<Op['body']>>;

/** What a call answers with; `undefined` where the operation answers without a body. */
export type Output<Op extends Operation> = [Declared<Op['response']>] extends [never]
  ? undefined
  : z.output<Extract<Op['response'], z.ZodType>>;

/** A request without its address and credential: what `--dry-run` shows and a call sends. */
export interface Prepared {
  readonly method: Method;
  readonly path: string;
  readonly query: Query;
  readonly body: unknown;
}

/**
 * Turns an input into a request. What is sent is what was given; the schemas only judge it.
 * @param service the base address of the service, for rules that depend on it
 * @throws InvalidRequestError with everything that is wrong
 */
export function prepare<Op extends Operation>(operation: Op, input: Input<Op>, service?: string): Prepared {
  const { body, ...given } = (input ?? {}) as Record<string, unknown>;
  const params = pick(given, Object.keys(operation.params.shape));
  const query = pick(given, Object.keys(operation.query?.shape ?? {}));
  const invalid = problemsOf(operation.params, params);
  const problems = [
    ...(invalid.length > 0 ? invalid : pathProblems(operation.path, params)),
    ...(operation.query ? problemsOf(operation.query, query) : []),
    ...(operation.body ? problemsOf(operation.body, body, { service }).map(insideBody) : []),
    ...unknownFields(operation, body === undefined ? given : { ...given, body }),
  ];
  if (problems.length > 0) throw new InvalidRequestError(problems);
  const { method, path } = operation;
  return { method, path: fillPath(path, params), query: query as Query, body };
}

function problemsOf(schema: z.ZodType, value: unknown, asker: Asker = {}): Problem[] {
  const checked = check(schema, value, asker);
  return checked.ok ? [] : checked.problems;
}

const insideBody = ({ path, message }: Problem): Problem => ({ path: ['body', ...path], message });

function unknownFields({ params, query, body }: Operation, given: Record<string, unknown>): Problem[] {
  const known = { ...params.shape, ...query?.shape, ...(body ? { body } : {}) };
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  return unknown.map((name) => ({ path: [name], message: 'is not a field known here' }));
}

function pick(values: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]]),
  );
}
