import { z } from 'zod';
import type { Prices } from './prices.js';
import type { VideoModel } from './video-models.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The names in a path: `PathNames<'/nodes/{nodeId}/versions/{version}'>` is `'nodeId' | 'version'`. */
export type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

type PathShape<Path extends string> = { [Name in PathNames<Path>]: z.ZodType<string> };

/**
 * Who may call an operation. `anyone`: no credential required. `bearer`: any valid credential, for reads.
 * `person`: the credential of a user. `admin`: that of an admin; `admin in person`: but not an admin token.
 * The others depend on the caller's role on the publisher in the path: `…reads` are open to admins too,
 * `…writes` are not, because admins only change other people's publishers through /admin/*.
 */
// Decided: a personal access token may call 4.3.4, 4.3.5 and every read, and sees its publisher as a member
// does: it passes all rules except `person`, `owner reads`, `owner writes` and those of admins. One that is
// limited to nodes passes `member …` only where the path names one of them.
// Decided: an API key passes `anyone` and `bearer`, and `person` where a task starts; it sees its own tasks only.
// Decided: an admin token may call /admin/* and every read: it passes `anyone`, `bearer`, `admin` and
// `…reads`.
export type Who =
  | 'anyone'
  | 'bearer'
  | 'person'
  | 'admin'
  | 'admin in person'
  | 'member reads'
  | 'member writes'
  | 'owner reads'
  | 'owner writes';

/** What no other operation brings back, for the people who are asked before it is sent. */
export interface Destruction {
  /** A verb that ends in e and what it removes, with path parameters in braces: `Delete version {versionId}`. */
  readonly action: string;
  /** A sentence on what is lost. */
  readonly loss: string;
}

/** The declaration of an operation, to which `operation()` adds its route and the path parameters. */
interface Declaration<
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
  Response extends z.ZodType | undefined,
> {
  /** One line, imperative, without a full stop: the summary of the command and in documents. */
  readonly summary: string;
  /** The authorization rule; nothing else repeats it. */
  readonly who: Who;
  /** The status of a success. Default 200. */
  readonly status?: 200 | 201 | 204;
  /** Statuses of errors that other operations of its kind do not have. */
  readonly ownErrors?: readonly number[];
  readonly query?: Query;
  readonly body?: Body;
  /** Absent if the status is 204, and only then. */
  readonly response?: Response;
  /** Why it exists although service.md does not list it. */
  readonly extension?: string;
  /** The response contains a secret. It is never stored, so `Idempotency-Key` is not honoured. */
  readonly secret?: true;
  /** A POST that only reads: safe in the sense of RFC 9110, 9.2.1, and repeated like a GET. */
  readonly safe?: true;
  /** Nothing brings back what it removes: clients ask first, and commands need `--yes` where they cannot ask. */
  // Decided: a ban, a role, a setting, a cancelled delivery and a cancelled task have an operation that undoes
  // them or starts them again, so they are not asked about.
  readonly destroys?: Destruction;
  /** A GET that counts: there is no HEAD of it, and no cache answers it. */
  readonly counts?: true;
  /** It says where to sign in: open to anyone even where all other reads need a credential. */
  readonly opensSignIn?: true;
  /** Agents are offered it without being asked for more: see tools.ts. */
  readonly tool?: true;
  /** Its body holds a credential, so that a service may be configured to take it without a bearer. */
  readonly credentialInBody?: true;
}

export type TaskKind = 'image' | 'video';

/** What an operation that starts a task declares about the task. */
export interface TaskFacts<Kind extends TaskKind = TaskKind> {
  readonly kind: Kind;
  /** Its name in sentences: `style transfer`. */
  readonly noun: string;
  /** The dotted name of the operation that reads the task by `task_id`, such as `image.relightStatus`. */
  readonly read: string;
  /** The model of a request without one. */
  readonly defaultModel?: VideoModel;
  /** Fields that contain the URL of an image, and nothing else. */
  readonly imageUrls?: readonly string[];
  /** URLs of images must be https. */
  readonly httpsOnly?: true;
  /** The field with the factor by which it enlarges the image. */
  readonly scaleField?: string;
  /** The fields that name the video to extend: its creation id, and its URL. */
  readonly videoFields?: readonly [creationId: string, url: string];
  /** The price in whole credits; undefined if the table has none. */
  price(prices: Prices, body: Readonly<Record<string, unknown>>): number | undefined;
}

export interface Operation<
  Path extends string = string,
  Query extends z.ZodObject | undefined = z.ZodObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Response extends z.ZodType | undefined = z.ZodType | undefined,
> extends Declaration<Query, Body, Response> {
  readonly method: Method;
  readonly path: Path;
  readonly params: z.ZodObject<PathShape<Path>>;
  /** Present if it starts a task. */
  readonly task?: TaskFacts;
}

/** Decided: path parameters have 1 to 1024 characters. */
const PathParameter = z.string().min(1).max(1024);

/**
 * Declares an operation of the contract. Its path in the tree of `contract/index.ts` is its only name.
 * @param route method and path, such as `GET /nodes/{nodeId}`
 */
export function operation<
  const Path extends string,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Response extends z.ZodType | undefined = undefined,
>(
  route: `${Method} ${Path}`,
  declaration: Declaration<Query, Body, Response>,
): Operation<Path, Query, Body, Response> {
  const [method, path] = route.split(' ') as [Method, Path];
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1] as string);
  const shape: unknown = Object.fromEntries(names.map((name) => [name, PathParameter]));
  return { method, path, ...declaration, params: z.object(shape as PathShape<Path>) };
}

/** Declares an operation that starts a task, which is billed: so it takes the credential of a user. */
export function taskOperation<
  const Path extends string,
  Body extends z.ZodType,
  Response extends z.ZodType,
  Kind extends TaskKind,
>(
  route: `POST ${Path}`,
  { task, ...rest }: Omit<Declaration<undefined, Body, Response>, 'who'> & { readonly task: TaskFacts<Kind> },
): Operation<Path, undefined, Body, Response> & { readonly task: TaskFacts<Kind> } {
  return { ...operation<Path, undefined, Body, Response>(route, { who: 'person', ...rest }), task };
}

/** Whether caches may keep the answer to a request without a credential. */
export function isCacheable({ method, who, counts }: Operation): boolean {
  return method === 'GET' && who === 'anyone' && !counts;
}

export function isRead({ method, safe }: Pick<Operation, 'method' | 'safe'>): boolean {
  return method === 'GET' || safe === true;
}

/** A tree of operations: its leaves are operations, its branches nouns. */
export interface OperationTree {
  readonly [name: string]: Operation | OperationTree;
}

export function isOperation(value: Operation | OperationTree): value is Operation {
  return typeof (value as Operation).method === 'string' && typeof (value as Operation).path === 'string';
}

/** Lists the operations of a tree with their dotted names, in order: `['node.get', operation]`. */
export function* listOperations(
  tree: OperationTree,
  prefix = '',
): Generator<[name: string, operation: Operation]> {
  for (const [key, value] of Object.entries(tree)) {
    if (isOperation(value)) yield [prefix + key, value];
    else yield* listOperations(value, `${prefix}${key}.`);
  }
}
