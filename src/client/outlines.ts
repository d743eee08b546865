import type { Method } from '../contract/operation.js';
import { fitsOutline, type Outline } from '../contract/schema/outline.js';
import { InvalidRequestError } from './errors.js';
import generated from './operations.generated.json' with { type: 'json' };
import { findPathProblems, listPathNames } from './url.js';

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

export const outlines: ReadonlyMap<string, OperationOutline> = new Map(Object.entries(operations));

/** @throws Error if there is no operation with that name */
export function getOutline(name: string): OperationOutline {
  const found = outlines.get(name);
  if (!found) throw new InvalidRequestError([{ path: [name], message: 'is not an operation' }]);
  return found;
}

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
