import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { z } from 'zod';
import { contract, type OperationName } from '../../contract/index.js';
import { listOperations } from '../../contract/operation.js';
import { toJsonSchema } from '../../contract/schema/json-schema.js';
import type { Handler } from '../operation/call.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { createQueryReader, requireCleanText, requireValid } from '../operation/validation.js';
import { routeAgents } from './agent-route.js';
import { type AnswerBudget, limitLists } from './answer-budget.js';
import { createAuthentication } from './authenticate.js';
import { createAuthorization } from './authorize.js';
import { type BodyBudget, createBodyBudget } from './bodies.js';
import { canonicalId } from './canonical-id.js';
import {
  type AnyCall,
  admitRequest,
  answerRequest,
  type Concern,
  type Exchange,
  type Route,
} from './concern.js';
import { createFullVersions } from './full-versions.js';
import { handlers } from './handlers.js';
import { RunningKeys } from './idempotency.js';
import { createOwnership } from './ownership.js';
import { createPageDrawer, type DrawPage, listPageRoutes, routePageFiles } from './page-routes.js';
import { createPublicCache, getAnswerHeaders } from './public-answers.js';
import type { RateLimit } from './rate-limit.js';
import { listRoutes, type RouteNames } from './route-names.js';
import { runOperation } from './run-operation.js';
import { createUplink } from './uplink.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: OperationName;
    /** It answers people, and so do its refusals. */
    isPage?: boolean;
  }
  interface FastifyRequest {
    caller: Caller;
    /** SHA-256 of the body as received, when there is an Idempotency-Key. */
    bodyHash: Buffer | undefined;
    /** The names of another service at its route; undefined for those of the contract. */
    names: RouteNames | undefined;
  }
}

export interface RouteOptions {
  readonly context: Context;
  readonly takeRequest: RateLimit;
  readonly budget: AnswerBudget;
}

const routeNames: Concern = {
  applies: ({ names }) => names !== undefined,
  onRequest: (request, _reply, { names }) => {
    request.names = names;
  },
};

const pathParameters: Concern = {
  onRequest: ({ params }, _reply, { operation }) => void requireValid(operation.params, params, 'path'),
};

/** What is done at each request beside answering it: in this order before its body is read, then from the outside in. */
function listConcerns(
  { context, takeRequest, budget }: RouteOptions,
  takeMemory: BodyBudget,
): readonly Concern[] {
  return [
    routeNames,
    createAuthentication(context, takeRequest),
    createPublicCache(context),
    pathParameters,
    createAuthorization(context),
    createOwnership(context.database),
    { onRequest: (request, reply, { bodyLimit }) => takeMemory(request, reply, bodyLimit) },
    canonicalId,
    createFullVersions(context),
    createUplink(context),
    limitLists(budget),
  ];
}

export function routeOperations(app: FastifyInstance, options: RouteOptions): void {
  app.decorateRequest('caller');
  app.decorateRequest('bodyHash');
  app.decorateRequest('names');
  const { context } = options;
  const { generationBody, jsonBody, anonymousBody } = context.configuration.limits;
  const takeMemory = createBodyBudget(Math.max(generationBody, jsonBody, anonymousBody));
  const concerns = listConcerns(options, takeMemory);
  const running = new RunningKeys(context);
  const answering = { context, running, concerns, drawPage: createPageDrawer(context, concerns) };
  for (const [name, operation] of listOperations(contract)) {
    const bodyLimit = operation.task ? generationBody : operation.who === 'anyone' ? anonymousBody : jsonBody;
    // The types of a request and its handler match by name only; here the name is not known until run time.
    const handler = handlers[name as OperationName] as Handler<OperationName>;
    for (const { method, path, operation: adapted, names } of listRoutes(
      context.compatibility.requests,
      name,
      operation,
    )) {
      const route = { name: name as OperationName, operation: adapted, handler, path, names, bodyLimit };
      routeOperation(app, answering, method, route);
    }
  }
  for (const route of listPageRoutes(context)) routeOperation(app, answering, 'GET', route);
  routePageFiles(app, context);
  routeAgents(app, options, takeMemory);
}

interface Answering {
  readonly context: Context;
  readonly running: RunningKeys;
  readonly concerns: readonly Concern[];
  readonly drawPage: DrawPage;
}

function routeOperation(
  app: FastifyInstance,
  { context, running, concerns: all, drawPage }: Answering,
  method: string,
  route: Route,
): void {
  const concerns = all.filter(({ applies }) => applies?.(route) ?? true);
  const { name, operation, handler, path, names, bodyLimit } = route;
  const { status = 200, response } = operation;
  const readCall = createCallReader(context, route);
  app.route({
    method: method as HTTPMethods,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: method === 'GET' && 'read' in handler && !operation.counts,
    config: { operation: name, countsCallers: true, isPage: route.page !== undefined },
    bodyLimit,
    onRequest: (request, reply) => admitRequest(concerns, request, reply, route),
    handler: async (request, reply) => {
      const exchange: Exchange = { route, request, reply };
      const handle = (call: AnyCall) => runOperation(call, exchange, running);
      const call = readCall(request, reply);
      const answer = await answerRequest(concerns, call, exchange, handle);
      if (reply.sent) return reply;
      reply.code(status);
      if (!response) return reply.send();
      const write = () => {
        const written = serialize(reply, response, answer);
        return names ? names.writeAnswer(written) : written;
      };
      const text = route.page ? await drawPage(answer, route.page.name, call, exchange) : write();
      return exchange.send?.(text) ?? reply.headers(getAnswerHeaders(route)).send(text);
    },
  });
}

/** @returns reads a request in the form of the contract. @throws Refused invalid_request, too_large */
function createCallReader(
  context: Context,
  { operation, names }: Route,
): (request: FastifyRequest, reply: FastifyReply) => AnyCall {
  const readQuery = createQueryReader(operation.query);
  const readBody = (body: unknown) => {
    const ruleContext = { service: context.baseUrl(), limits: context.configuration.limits };
    return (
      operation.body && requireValid(operation.body, names ? names.readBody(body) : body, 'body', ruleContext)
    );
  };
  return (request, reply) => {
    requireCleanText(request.body);
    const validated: unknown = {
      params: request.params,
      query: readQuery(names ? names.readQuery(request.query) : request.query),
      body: readBody(request.body),
      caller: request.caller,
      actions: [],
      // Connections to the socket of the data folder come from this machine and have no address.
      address: request.ip ?? '127.0.0.1',
      context,
      get signal() {
        return abortOnClose(reply);
      },
    };
    return validated as AnyCall;
  };
}

/** Compiled once in a process, when first needed: compiling all of them would be most of a start. */
const serializers = new WeakMap<z.ZodType, (answer: { [field: string]: unknown }) => string>();

/** Writes an answer as JSON, without what its schema does not declare. */
function serialize(reply: FastifyReply, response: z.ZodType, answer: unknown): string {
  const serializer =
    serializers.get(response) ?? reply.compileSerializationSchema(toJsonSchema(response, 'output'));
  serializers.set(response, serializer);
  return serializer(answer as { [field: string]: unknown });
}

/** Aborted when the connection ends before the answer is written. */
function abortOnClose({ raw }: FastifyReply): AbortSignal {
  const abort = new AbortController();
  const end = () => {
    if (!raw.writableFinished) abort.abort(new Refused('unavailable', 'The client closed the connection.'));
  };
  if (raw.closed) end();
  else raw.once('close', end);
  return abort.signal;
}
