import type { Naming } from '../contract/naming/naming.js';
import type { Method } from '../contract/operation.js';
import { fitsOutline, type Outline } from '../contract/schema/outline.js';
import type { PreparedRequest } from './check-call.js';
import generated from './operations.generated.json' with { type: 'json' };
import { findPathProblems, listPathNames, type Query } from './url.js';

/** What the client needs to know about an operation, without the contract's schemas. */
export interface OperationOutline {
  readonly method: Method;
  readonly path: string;
  readonly safe?: true;
  readonly secret?: true;
  readonly query?: Outline;
  readonly body?: Outline;
  /** Absent if it answers without a body. */
  readonly response?: Outline;
}

const { shared, operations } = generated as unknown as {
  readonly shared: readonly Outline[];
  readonly operations: Readonly<Record<string, OperationOutline>>;
};

/** The outlines that others refer to by number. */
export { shared };

/** The outlines of all operations by their dotted names. */
export const outlines: ReadonlyMap<string, OperationOutline> = new Map(Object.entries(operations));

/** @throws Error if there is no operation with that name */
export function getOutline(name: string): OperationOutline {
  const found = outlines.get(name);
  if (!found) throw new Error(`Unknown operation ${name}.`);
  return found;
}

/** Finds an operation by its method and its path with the names in braces. */
function findOutline(method: string, path: string): [name: string, OperationOutline] | undefined {
  return [...outlines].find(([, outline]) => outline.method === method && outline.path === path);
}

/** Lists the names of the query parameters of an operation. */
export function listQueryNames({ query }: OperationOutline): string[] {
  const outline = query?.type === 'shared' ? shared[query.index] : query;
  return outline?.type === 'object' ? Object.keys(outline.fields) : [];
}

/** The parts of a request as they will be sent. */
interface RequestParts {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

const PATH_PARAMETER: Outline = { type: 'string', min: 1, max: 1024 };

/** Whether a request is certainly valid. If not, the contract decides and says what is wrong. */
export function isValidRequest(outline: OperationOutline, { params, query, body }: RequestParts): boolean {
  const names = listQueryNames(outline);
  return (
    listPathNames(outline.path).every((name) => fitsOutline(PATH_PARAMETER, params[name], shared)) &&
    findPathProblems(outline.path, params).length === 0 &&
    Object.keys(query).every((name) => names.includes(name)) &&
    (!outline.query || fitsOutline(outline.query, query, shared)) &&
    (outline.body ? fitsOutline(outline.body, body, shared) : body === undefined)
  );
}

/** Whether data certainly has the shape of the operation's response, and at least one of its fields. */
export function isValidResponse({ response }: OperationOutline, data: unknown): boolean {
  const outline = response?.type === 'shared' ? shared[response.index] : response;
  if (!outline || !fitsOutline(outline, data, shared)) return false;
  return (
    outline.type !== 'object' ||
    Object.keys(outline.fields).some((name) => Object.hasOwn(data as object, name))
  );
}

type Place = Pick<PreparedRequest, 'method' | 'path'>;

/** Renames a valid request for the service that it goes to. */
export function renameRequest<Request extends PreparedRequest>(naming: Naming, request: Request): Request {
  const { method, path, query, body } = request;
  const [name, outline] = findOutline(method, path) ?? [];
  const added = (name !== undefined && naming.behaviors.addedQuery?.[name]) || {};
  return {
    ...request,
    path: naming.choosePath({ method, path }, query),
    query: { ...(naming.renameQuery(query, 'theirs') as Query), ...added },
    body: naming.renameBody(name, outline?.body, body, 'theirs', shared),
  };
}

/** Gives the query and body of a request the names of the contract; they may have either. */
export function renameInput<Request extends { readonly query: object; readonly body: unknown }>(
  naming: Naming,
  { method, path }: Place,
  request: Request,
): Request {
  const [name, outline] = findOutline(method, path) ?? [];
  return {
    ...request,
    query: naming.renameQuery(request.query as Readonly<Record<string, unknown>>, 'ours'),
    body: naming.renameBody(name, outline?.body, request.body, 'ours', shared),
  };
}

/** Gives the input of a call the names of the contract; it may have either. */
export function readInput(
  naming: Naming,
  place: Place,
  input: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { body, ...query } = input;
  const renamed = renameInput(naming, place, { query, body });
  return { ...renamed.query, ...(body !== undefined && { body: renamed.body }) };
}

/** Gives an answer the names of the contract, or those of the service. */
export function renameAnswer(
  naming: Naming,
  { method, path }: Place,
  answer: unknown,
  to: 'ours' | 'theirs',
): unknown {
  const [name, outline] = findOutline(method, path) ?? [];
  const wrapper = naming.behaviors.wrappedAnswers?.[name ?? ''];
  if (wrapper === undefined) return naming.renameBody(name, outline?.response, answer, to, shared);
  if (to === 'theirs') return { [wrapper]: naming.renameBody(name, outline?.response, answer, to, shared) };
  const inner = (answer as Record<string, unknown> | undefined)?.[wrapper] ?? answer;
  return naming.renameBody(name, outline?.response, inner, to, shared);
}
