import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { contract } from '../../contract/index.js';
import { openapi } from '../../contract/openapi.js';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';
import { acceptJson } from './bodies.js';
import { crossOrigin, hostCheck } from './browsers.js';
import { answerClientError, answerError, refuseConnect } from './errors.js';
import { allowedMethods } from './methods.js';
import { routeOperations } from './routes.js';
import { watchBody } from './slow-bodies.js';
import { uploadPath } from './uploads.js';
import { requireCleanUrl } from './validate.js';

/**
 * The service's HTTP side: every operation of the contract, and the few paths beside it. Not yet listening.
 * @param ready whether the service takes on work, as `GET /ready` tells
 */
export function createApp(context: Context, ready: () => boolean): FastifyInstance {
  const app: FastifyInstance = fastify({
    logger: false,
    bodyLimit: context.configuration.limits.jsonBody,
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: true,
    // Its own 503 would not have our body.
    return503OnClosing: false,
    // Longer than any URL that node accepts, so that the schema judges the length and answers in our words.
    routerOptions: { maxParamLength: 64 * 1024 },
    // Hosts are checked below, missing ones too.
    http: { requireHostHeader: false },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply);
      answerError(context, error, request as FastifyRequest, reply as FastifyReply);
    },
  });
  app.server.on('connect', refuseConnect);
  // An Expect that node does not know is ignored instead of answered with an empty 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  acceptJson(app);
  app.setErrorHandler((error, request, reply) => answerError(context, error, request, reply));
  guardRequests(app, context);
  app.get('/health', async () => ({ status: 'ok' }));
  app.get('/ready', async () => {
    if (!ready()) throw new Refused('unavailable', 'The service is starting or stopping.');
    return { status: 'ready' };
  });
  // Written when it is first asked for: it takes as long as a third of the start.
  let document: ReturnType<typeof openapi> | undefined;
  app.get('/openapi.json', async () => {
    document ??= openapi(contract, { version: context.configuration.version });
    return { ...document, servers: [{ url: context.baseUrl() }] };
  });
  routeOperations(app, context);
  return app;
}

function setCommonHeaders(request: FastifyRequest | { id: string }, reply: FastifyReply): void {
  reply.headers({
    'x-request-id': request.id,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    // What a file's route knows better it sets itself.
    'cache-control': 'no-store',
  });
}

/** What holds for every request, before anything of it is looked at closer. */
function guardRequests(app: FastifyInstance, context: Context): void {
  const methodsOf = allowedMethods(app);
  const checkHost = hostCheck(context);
  const origins = new Set(context.configuration.cors.origins.map((origin) => new URL(origin).origin));
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(request, reply);
    if (request.routeOptions.url !== uploadPath) watchBody(request.raw, reply.raw);
    if (closing) {
      reply.raw.shouldKeepAlive = false;
      throw new Refused('unavailable', 'The service is stopping.');
    }
    checkHost(request.headers.host);
    if (crossOrigin(origins, request, reply)) return reply.code(204).send();
    requireCleanUrl(request.url, request.params, request.query);
    if (request.is404) refuseUnknown(request, reply, methodsOf(request.url));
  });
}

function refuseUnknown({ method, url }: FastifyRequest, reply: FastifyReply, allowed: string[]): never {
  const path = url.split('?')[0]?.slice(0, 200);
  if (allowed.length === 0) throw new Refused('not_found', `There is nothing at ${path}.`);
  reply.header('allow', allowed.join(', '));
  throw new Refused(
    'method_not_allowed',
    `${method} is not possible at ${path}; use ${allowed.join(' or ')}.`,
  );
}
