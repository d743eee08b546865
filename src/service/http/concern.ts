import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OperationName } from '../../contract/index.js';
import type { Operation } from '../../contract/operation.js';
import type { Handler, OperationCall } from '../operation/call.js';
import type { Page, PageName } from '../pages/page-list.js';
import type { RouteNames } from './route-names.js';

/** An operation at one of its paths. */
export interface Route {
  readonly path: string;
  readonly name: OperationName;
  readonly operation: Operation;
  readonly handler: Handler<OperationName>;
  readonly names: RouteNames | undefined;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Absent: it answers with JSON. */
  readonly page?: Page & { readonly name: PageName };
}

/** A request whose body was read. */
export interface Exchange {
  readonly route: Route;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Sends the answer, which is JSON, with headers of its own; absent: with those of any answer. */
  send?: ((text: string) => FastifyReply) | undefined;
}

export type AnyCall = OperationCall<OperationName>;
export type Next = (call: AnyCall) => Promise<unknown>;

/** What the service does at every request of the operations that it applies to, apart from answering it. */
export interface Concern {
  /** Absent: it applies to all operations. */
  applies?(route: Route): boolean;
  /** Runs before the body is read, so that callers without permission cannot make the service read one. It may answer. */
  onRequest?(request: FastifyRequest, reply: FastifyReply, route: Route): unknown;
  /** Runs around the handler. @returns the answer in the form of the contract; `next` finds it */
  around?(call: AnyCall, next: Next, exchange: Exchange): Promise<unknown>;
}

/** Runs what comes before the body, in order, until one of them has answered. */
export async function admitRequest(
  concerns: readonly Concern[],
  request: FastifyRequest,
  reply: FastifyReply,
  route: Route,
): Promise<FastifyReply | undefined> {
  for (const concern of concerns) {
    await concern.onRequest?.(request, reply, route);
    if (reply.sent) return reply;
  }
  return undefined;
}

/** Answers a request: the first of the concerns is the outermost. */
export function answerRequest(
  [concern, ...others]: readonly Concern[],
  call: AnyCall,
  exchange: Exchange,
  handle: Next,
): Promise<unknown> {
  if (!concern) return handle(call);
  const next: Next = (changed) => answerRequest(others, changed, exchange, handle);
  return concern.around?.(call, next, exchange) ?? next(call);
}
