import { createServer } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getLogLevel } from '../configuration/configuration.js';
import { isPostgres } from '../database/postgres.js';
import type { Context } from '../operation/context.js';
import { invalidField, Refused } from '../operation/refused.js';
import { requireCleanUrl } from '../operation/validation.js';
import { getRequestFacts, logRequests } from './access-log.js';
import { AnswerBudget } from './answer-budget.js';
import { acceptJsonBodies, watchBody } from './bodies.js';
import { serveInTurn, watchReaders } from './connections.js';
import { createHttpServer } from './create-server.js';
import { applyCors, createHostCheck, findRepeatedHeader } from './cross-origin.js';
import { routeDownloads } from './downloads.js';
import { refuseConnect, sendClientError, sendError } from './errors.js';
import { COMMON_HEADERS } from './public-answers.js';
import { countRequest, createRateLimit, nameCaller, type RateLimit } from './rate-limit.js';
import { createReadinessCheck } from './readiness.js';
import { listDocuments } from './route-names.js';
import { routeOperations } from './routes.js';
import type { Scenario } from './scenario.js';

/** Steady transfers may take hours; `watchBody` ends the others. */
const SERVER_OPTIONS = { requestTimeout: 0, keepAliveTimeout: 72_000 };

/**
 * Creates the HTTP server, not yet listening: every operation of the contract and the few paths beside it.
 * @param isReady whether the service accepts work, which `GET /ready` reports
 * @param scenario what happens to requests to test their callers
 */
export function createApp(context: Context, isReady: () => boolean, scenario?: Scenario): FastifyInstance {
  const takeRequest = createRateLimit(context);
  const app = createHttpServer({
    logger: false,
    bodyLimit: context.configuration.limits.anonymousBody,
    requestIdHeader: false,
    genReqId: (request) => getRequestFacts(request).id,
    exposeHeadRoutes: true,
    trustProxy: toTrustProxy(context.configuration.trustedProxies),
    // Fastify's own 503 does not have the body of our errors.
    return503OnClosing: false,
    // Longer than any URL that Node accepts, so that the schemas check lengths and answer with our errors.
    routerOptions: { maxParamLength: 64 * 1024 },
    serverFactory: (handler) =>
      // The Host header is checked below.
      createServer({ ...SERVER_OPTIONS, requireHostHeader: false }, serveInTurn(handler)),
    clientErrorHandler: sendClientError,
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply);
      sendError(context, error, request as FastifyRequest, reply as FastifyReply);
    },
  });
  app.server.on('connect', refuseConnect);
  // An unknown Expect header is ignored; Node would answer it with an empty 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  acceptJsonBodies(app, context.configuration.limits);
  app.setErrorHandler((error, request, reply) => sendError(context, error, request, reply));
  guardRequests(app, { context, isReady, takeRequest });
  const budget = limitAnswers(app, context);
  app.get('/health', async () => ({ status: 'ok' }));
  const checkReadiness = createReadinessCheck(context, isReady);
  app.get('/ready', async () => {
    await checkReadiness();
    return { status: 'ready' };
  });
  routeDocuments(app, context);
  scenario?.disturbRequests(app);
  routeOperations(app, { context, takeRequest, budget });
  routeDownloads(app, context, takeRequest);
  watchReaders(app.server);
  const { configuration, log } = context;
  if (getLogLevel(configuration) === 'info') logRequests(app.server, log);
  return app;
}

function routeDocuments(
  app: FastifyInstance,
  { configuration, compatibility, baseUrl }: Pick<Context, 'configuration' | 'compatibility' | 'baseUrl'>,
): void {
  // Built on the first request, because it takes a third of the start-up time, and kept, because anyone may request it.
  const options = () => ({ version: configuration.version, serverUrl: baseUrl() });
  for (const { path, build } of listDocuments(compatibility.requests)) {
    let bytes: Buffer | undefined;
    app.get(path, async (_, reply) => {
      bytes ??= Buffer.from(JSON.stringify(build(options())));
      return reply.type('application/json; charset=utf-8').send(bytes);
    });
  }
}

/** X-Forwarded-For is believed as far as it was written by these proxies. */
function toTrustProxy(proxies: number | string[]): string[] | ((address: string, hop: number) => boolean) {
  return typeof proxies === 'number' ? (_, hop) => hop < proxies : proxies;
}

function setCommonHeaders(request: FastifyRequest | { id: string }, reply: FastifyReply): void {
  reply.headers({ 'x-request-id': request.id, ...COMMON_HEADERS });
}

/** Counts large answers of all kinds until they are sent. */
function limitAnswers(app: FastifyInstance, { database }: Pick<Context, 'database'>): AnswerBudget {
  // An embedded database answers at once; while another one is asked, others may build.
  const budget = new AnswerBudget(isPostgres(database) ? 4 : 1);
  app.addHook('onSend', (request, reply, body, done) => {
    if (request.method === 'HEAD') return done();
    try {
      done(null, budget.hold(nameCaller(request), reply.raw, body));
    } catch (error) {
      // The refusal has no more of the answer than this one.
      reply.removeHeader('etag').header('cache-control', COMMON_HEADERS['cache-control']);
      done(error as Error);
    }
  });
  return budget;
}

interface Guard {
  readonly context: Context;
  readonly isReady: () => boolean;
  readonly takeRequest: RateLimit;
}

/** Checks that apply to every request, before it is authenticated. */
function guardRequests(app: FastifyInstance, { context, isReady, takeRequest }: Guard): void {
  const listMethods = trackMethods(app);
  const findReason = listReasons(context.compatibility.requests?.unsupported ?? {});
  const isHostAllowed = createHostCheck(context);
  const origins = new Set(context.configuration.cors.origins.map((origin) => new URL(origin).origin));
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  // Clients leave with the answers that they get while the service stops.
  app.addHook('onSend', (_request, reply, _body, done) => {
    if (!isReady()) reply.raw.shouldKeepAlive = false;
    done();
  });
  // Not async: together with the waiting, these hooks would take longer than an answer from memory.
  app.addHook('onRequest', (request, reply, done) => {
    let isPreflight = false;
    try {
      isPreflight = guardRequest(request, reply);
    } catch (error) {
      return done(error as Error);
    }
    if (isPreflight) reply.code(204).send();
    else done();
  });

  function guardRequest(request: FastifyRequest, reply: FastifyReply): boolean {
    setCommonHeaders(request, reply);
    watchBody(request.raw, reply.raw);
    const facts = getRequestFacts(request.raw);
    facts.client = request.ip;
    const { url, config } = request.routeOptions;
    if (url !== undefined) facts.route = url;
    const isPreflight = applyCors(origins, request, reply);
    if (!config.countsCallers) countRequest(takeRequest, request);
    try {
      requireSound(request);
    } catch (error) {
      // It is not authenticated.
      if (config.countsCallers) countRequest(takeRequest, request);
      throw error;
    }
    if (!isPreflight && request.is404) refuseUnknown(request, reply);
    return isPreflight;
  }

  function requireSound(request: FastifyRequest): void {
    if (closing) throw new Refused('unavailable', 'The service is stopping.');
    const repeated = findRepeatedHeader(request.raw, context.compatibility.apiKeyHeader);
    if (repeated !== undefined)
      throw invalidField(repeated, 'must not appear twice', `The header ${repeated}`);
    if (!isHostAllowed(request.headers.host))
      throw new Refused('host_not_allowed', 'This service only accepts requests to 127.0.0.1 or localhost.');
    requireCleanUrl(request.url, request.params, request.query);
  }

  function refuseUnknown(request: FastifyRequest, reply: FastifyReply): never {
    const { method, url } = request;
    const path = url.split('?')[0]?.slice(0, 200);
    const allowed = listMethods(url);
    const reason = findReason(request);
    if (reason !== undefined || allowed.length === 0)
      throw new Refused('not_found', reason ?? `Nothing found at ${path}.`);
    reply.header('allow', allowed.join(', '));
    const instead = allowed.join(' or ');
    throw new Refused('method_not_allowed', `${path} does not accept ${method}; use ${instead}.`);
  }
}

/**
 * Records the methods of routes added from now on, because the framework answers 404 to a wrong method.
 * @returns lists the methods accepted at a URL
 */
function trackMethods(app: FastifyInstance): (url: string) => string[] {
  const routes: { readonly url: string; readonly method: string | string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => void routes.push({ url, method }));
  return (url) => {
    const path = url.split(/[?#]/)[0] as string;
    const matching = routes.filter((route) => matchesPath(route.url, path));
    return [...new Set(matching.flatMap(({ method }) => method))].sort();
  };
}

/** Says why a request of another service is not answered. */
function listReasons(
  unsupported: Readonly<Record<string, string>>,
): (request: FastifyRequest) => string | undefined {
  const reasons = Object.entries(unsupported);
  return ({ method, url }) =>
    reasons.find(([request]) => matchesPath(request, `${method} ${url.split('?')[0]}`))?.[1];
}

/** @param pattern with `:name` or `{name}` for any segment */
function matchesPath(pattern: string, path: string): boolean {
  const [parts, given] = [pattern.split('/'), path.split('/')];
  const isMatch = (part: string, at: number) => (/^[:{]/.test(part) ? given[at] !== '' : given[at] === part);
  return parts.length === given.length && parts.every(isMatch);
}
