import type { Naming } from '../contract/naming/naming.js';
import type { PreparedRequest } from './check-call.js';
import { findOutline, shared } from './outlines.js';
import type { Query } from './url.js';

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
