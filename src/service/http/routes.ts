import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { z } from 'zod';
import { contract, type OperationName } from '../../contract/index.js';
import { isCacheable, listOperations, type Operation } from '../../contract/operation.js';
import { toJsonSchema } from '../../contract/schema/json-schema.js';
import type { Handler, OperationCall } from '../operation/call.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { createQueryReader, requireCleanText, requireValid } from '../operation/validation.js';
import { findNodeInAnySpelling, getOwnNode, isInsider, openAccess } from '../registry/access.js';
import { askUplink } from '../registry/uplink.js';
import { addFromUplink } from '../registry/uplink-lists.js';
import { completeSpelling } from '../registry/version-order.js';
import { getRequestFacts } from './access-log.js';
import { type AnswerBudget, isListAnswer } from './answer-budget.js';
import { authenticate, readCredential } from './authenticate.js';
import { type AuthorizationRequest, authorize } from './authorize.js';
import { type BodyBudget, createBodyBudget } from './bodies.js';
import { handlers } from './handlers.js';
import { RunningKeys } from './idempotency.js';
import { type PublicAnswers, sendPublicAnswer } from './public-answers.js';
import { admitCaller, nameCaller, type RateLimit } from './rate-limit.js';
import { listRoutes, type OperationRoute, type RouteNames } from './route-names.js';
import { type OperationRun, runOperation } from './run-operation.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: OperationName;
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
  readonly answers: PublicAnswers;
  readonly takeRequest: RateLimit;
  readonly budget: AnswerBudget;
}

interface SharedState extends RouteOptions {
  readonly running: RunningKeys;
  readonly takeMemory: BodyBudget;
}

/** Routes every operation of the contract. */
export function routeOperations(app: FastifyInstance, options: RouteOptions): void {
  app.decorateRequest('caller');
  app.decorateRequest('bodyHash');
  app.decorateRequest('names');
  const { generationBody, jsonBody, anonymousBody } = options.context.configuration.limits;
  const shared: SharedState = {
    ...options,
    running: new RunningKeys(options.context),
    takeMemory: createBodyBudget(Math.max(generationBody, jsonBody, anonymousBody)),
  };
  for (const [name, operation] of listOperations(contract)) {
    for (const route of listRoutes(options.context.naming, name, operation))
      routeOperation(app, shared, name as OperationName, route);
  }
}

function routeOperation(
  app: FastifyInstance,
  shared: SharedState,
  name: OperationName,
  { method, path, operation, names }: OperationRoute,
): void {
  const { context, running, answers, budget } = shared;
  const { status = 200, response, query, task } = operation;
  const { generationBody, jsonBody, anonymousBody } = context.configuration.limits;
  const bodyLimit = task ? generationBody : operation.who === 'anyone' ? anonymousBody : jsonBody;
  // The types of a request and its handler match by name only; here the name is not known until run time.
  const handler = handlers[name] as Handler<OperationName>;
  const ruleContext = () => ({ service: context.baseUrl(), limits: context.configuration.limits });
  const readQuery = createQueryReader(query);
  // Where to sign in is no secret.
  const isClosed = context.configuration.registry.read === 'authenticated' && !name.startsWith('service.');
  const isList = isListAnswer(response);
  const isPublic = !isClosed && isCacheable(operation);
  const toAuthorization = (request: FastifyRequest): AuthorizationRequest => ({
    who: operation.who,
    caller: request.caller,
    starts: task && name,
    ...(request.params as { publisherId?: string; nodeId?: string }),
    isClosed,
    bearerOptional:
      name === 'version.publish' &&
      (context.configuration.publish.bearer === 'optional' ||
        context.naming?.behaviors.publishWithoutBearer === true),
  });

  app.route({
    method: method as HTTPMethods,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: method === 'GET' && 'read' in handler && !operation.counts,
    config: { operation: name, countsCallers: true },
    bodyLimit,
    // Before the body is read, so that callers without permission cannot make the service read one.
    onRequest: async (request, reply) => {
      request.names = names;
      const caller = await admitCaller(shared.takeRequest, request, () => identifyCaller(context, request));
      request.caller = caller;
      const answer = isPublic && caller.kind === 'none' ? answers.find(request.url) : undefined;
      if (answer) return sendPublicAnswer(answer, request, reply);
      requireValid(operation.params, request.params, 'path');
      await authorize(context.database, toAuthorization(request));
      await requireOwnership(context, operation, request.params);
      shared.takeMemory(request, reply, bodyLimit);
    },
    handler: async (request, reply) => {
      requireCleanText(request.body);
      const validated: unknown = {
        params: request.params,
        query: readQuery(names ? names.readQuery(request.query) : request.query),
        body:
          operation.body &&
          requireValid(
            operation.body,
            names ? names.readBody(request.body) : request.body,
            'body',
            ruleContext(),
          ),
        caller: request.caller,
        actions: [],
        // Connections to the socket of the data folder come from this machine and have no address.
        address: request.ip ?? '127.0.0.1',
        context,
        get signal() {
          return abortOnClose(reply);
        },
      };
      const call = validated as OperationCall<OperationName>;
      const access = toAuthorization(request);
      const keep = isPublic && request.caller.kind === 'none' ? answers.begin(request) : undefined;
      const run = { name, operation, handler, call, access, running };
      const build = async () => {
        const answer = await runOperation(run, request, reply);
        return { answer, text: write(answer) };
      };
      const write = (answer: unknown) => {
        if (!response) return undefined;
        const written = serialize(reply, response, answer);
        return names ? names.writeAnswer(written) : written;
      };
      let text: string | undefined;
      let isFromUplink = false;
      try {
        const built = await (isList ? budget.takeTurn(nameCaller(request), reply.raw, build) : build());
        const added = await addFromUplink(context, name, call, built.answer);
        isFromUplink = added !== undefined;
        text = isFromUplink ? write(added) : built.text;
      } catch (error) {
        const location = isMissing(error) && (await findCanonicalUrl(context, request));
        if (location) return reply.redirect(location, 302);
        const answer = isMissing(error) ? await askElsewhere(run, request, reply) : undefined;
        if (answer === undefined) throw error;
        text = write(answer);
        isFromUplink = true;
      }
      reply.code(status);
      if (text === undefined) return reply.send();
      if (keep && !isFromUplink) return sendPublicAnswer(keep(text), request, reply);
      return reply.type('application/json; charset=utf-8').send(text);
    },
  });
}

/**
 * Looks for what is not held here under the version that was asked for: in the registry behind this one, and under the
 * full spelling of the version in both.
 */
async function askElsewhere(
  run: OperationRun,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { name, call } = run;
  const { context } = call;
  const answer = await askUplink(context, name, call);
  if (answer !== undefined) return answer;
  const { params, query } = call as OperationCall<'version.get' | 'node.install'>;
  const version = 'version' in params ? params.version : query?.version;
  const full = version && completeSpelling(context, version);
  if (full === undefined || full === version) return undefined;
  const other = {
    ...call,
    ...('version' in params
      ? { params: { ...params, version: full } }
      : { query: { ...query, version: full } }),
  } as typeof call;
  try {
    return await runOperation({ ...run, call: other }, request, reply);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return askUplink(context, name, other);
  }
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

async function identifyCaller(context: Context, request: FastifyRequest): Promise<Caller> {
  const caller = await authenticate(context, readCredential(context, request));
  if (caller.kind !== 'none')
    Object.assign(getRequestFacts(request.raw), { user: caller.userId, credential: caller.kind });
  return caller;
}

// Decided: a GET under /nodes/{nodeId} in another letter case is redirected with 302 to the registered id.
/** @returns the path of the same request under the registered id; undefined if it has that id */
async function findCanonicalUrl(
  { database, baseUrl }: Context,
  { method, params, url, caller }: FastifyRequest,
): Promise<string | undefined> {
  const { nodeId } = params as { nodeId?: string };
  if ((method !== 'GET' && method !== 'HEAD') || nodeId === undefined || !url.startsWith('/nodes/'))
    return undefined;
  const node = await findNodeInAnySpelling(database, nodeId);
  if (!node || node.id === nodeId) return undefined;
  // The redirect would reveal a node that is 404 for this caller.
  if (node.status === 'NodeStatusDeleted') {
    const { viewer } = await openAccess({ caller, context: { baseUrl } }, database);
    if (!isInsider(viewer, node.publisher_id, node.id)) return undefined;
  }
  const [, , , ...rest] = url.split('/');
  const query = rest.length === 0 && url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const prefix = new URL(baseUrl()).pathname.replace(/\/$/, '');
  return [`${prefix}/nodes/${encodeURIComponent(node.id)}${query}`, ...rest].join('/');
}

/**
 * Paths of another service may name the publisher of a node where those of the contract do not.
 * @throws Refused not_found
 */
async function requireOwnership({ database }: Context, { params }: Operation, given: unknown): Promise<void> {
  const { publisherId, nodeId } = given as { publisherId?: string; nodeId?: string };
  if (publisherId === undefined || nodeId === undefined || 'publisherId' in params.shape) return;
  await getOwnNode(database, publisherId, nodeId);
}

function isMissing(error: unknown): boolean {
  return error instanceof Refused && error.code === 'not_found';
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
