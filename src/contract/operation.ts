import { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The names in braces of a path: `PathNames<'/nodes/{nodeId}/versions/{version}'>` is `'nodeId' | 'version'`. */
export type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

type PathShape<Path extends string> = { [Name in PathNames<Path>]: z.ZodType<string> };

/** What is declared by hand for one operation; `operation()` adds the path parameters. */
export interface Declaration<
  Path extends string,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
  Response extends z.ZodType | undefined,
> {
  readonly method: Method;
  readonly path: Path;
  /** One line, imperative, without a full stop: the command's and the document's summary. */
  readonly summary: string;
  /** `bearer`: refused without a credential. `none`: a credential only widens what is seen. */
  readonly auth: 'none' | 'bearer';
  /** The status of a success; 200 where absent. */
  readonly status?: 200 | 201 | 204;
  readonly query?: Query;
  readonly body?: Body;
  /** Absent exactly where the status is 204. */
  readonly response?: Response;
  /** It starts a task. */
  readonly task?: Task<Response>;
  /** Not listed in service.md, but needed by its own text. */
  readonly extension?: true;
  /** The answer holds a secret: never stored, so `Idempotency-Key` is not honoured. */
  readonly secret?: true;
}

/** A task as its start answers it. */
export interface Task<Response extends z.ZodType | undefined> {
  /** The task's id in the answer. A method, because its answer is narrower than that of any operation. */
  id(answer: z.output<Extract<Response, z.ZodType>>): string;
  /** The operation that reads the task back by `task_id`: its dotted name, such as `image.relightStatus`. */
  readonly read: string;
}

export interface Operation<
  Path extends string = string,
  Query extends z.ZodObject | undefined = z.ZodObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Response extends z.ZodType | undefined = z.ZodType | undefined,
> extends Declaration<Path, Query, Body, Response> {
  readonly params: z.ZodObject<PathShape<Path>>;
}

/** Decided: path parameters hold 1 to 1024 characters. */
const pathParameter = z.string().min(1).max(1024);

/** Declares one operation of the contract. Its place in the tree of `contract/index.ts` is its only name. */
export function operation<
  const Path extends string,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Response extends z.ZodType | undefined = undefined,
>(declaration: Declaration<Path, Query, Body, Response>): Operation<Path, Query, Body, Response> {
  const names = Array.from(declaration.path.matchAll(/\{(\w+)\}/g), (match) => match[1] as string);
  const shape: unknown = Object.fromEntries(names.map((name) => [name, pathParameter]));
  return { ...declaration, params: z.object(shape as PathShape<Path>) };
}

/** A tree of operations: leaves are operations, branches are nouns. */
export interface Tree {
  readonly [name: string]: Operation | Tree;
}

export function isOperation(value: Operation | Tree): value is Operation {
  return typeof (value as Operation).method === 'string' && typeof (value as Operation).path === 'string';
}

/** Every operation of a tree with its dotted name, in the order written: `['node.get', operation]`. */
export function* operations(tree: Tree, prefix = ''): Generator<[name: string, operation: Operation]> {
  for (const [key, value] of Object.entries(tree)) {
    if (isOperation(value)) yield [prefix + key, value];
    else yield* operations(value, `${prefix}${key}.`);
  }
}
