import type { FastifyInstance } from 'fastify';
import { getOperation, type OperationName } from '../../contract/index.js';
import { openSession, SESSION_COOKIE, SIGN_IN_PATH } from '../auth/page-sessions.js';
import type { Handler } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { requireValid } from '../operation/validation.js';
import { drawSignedIn } from '../pages/error-page.js';
import { PAGE_HEADERS, type Page, type PageRequest } from '../pages/page.js';
import { pages } from '../pages/pages.js';
import { STYLE } from '../pages/style.js';
import { type AnyCall, answerRequest, type Concern, type Exchange, type Route } from './concern.js';
import { handlers } from './handlers.js';

/** Adds the route of the links that sign in, and the style sheet. */
export function routePageFiles(app: FastifyInstance, context: Context): void {
  app.get<{ Querystring: { code?: string } }>(SIGN_IN_PATH, async ({ query }, reply) => {
    const { session, to, seconds } = await openSession(context, String(query.code ?? ''));
    const { pathname, protocol } = new URL(context.baseUrl());
    const prefix = pathname.replace(/\/$/, '');
    const secure = protocol === 'https:' ? '; Secure' : '';
    const cookie = `${SESSION_COOKIE}=${session}; Path=${prefix || '/'}; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
    // Not a redirect: with SameSite=Strict, the cookie comes only with requests that a page of this service began.
    return reply
      .headers(PAGE_HEADERS)
      .header('set-cookie', cookie + secure)
      .header('refresh', `0; url=${prefix}${to}`)
      .send(drawSignedIn(prefix + to).text);
  });
  app.get('/web/style.css', async (_, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=3600').send(STYLE),
  );
}

/** The page of a route: the answer of its operation is read as usual, and drawn. */
export function listPageRoutes({ configuration }: Pick<Context, 'configuration'>): readonly Route[] {
  return pages.map((page) => {
    const route = createOwnRoute(page.operation, configuration.limits.anonymousBody);
    const operation = page.query ? { ...route.operation, query: page.query } : route.operation;
    return { ...route, operation, path: page.path, page };
  });
}

function createOwnRoute(name: OperationName, bodyLimit: number): Route {
  const operation = getOperation(name);
  const handler = handlers[name] as Handler<OperationName>;
  return { name, operation, handler, path: operation.path, names: undefined, bodyLimit };
}

/** @returns draws the answer of a call @throws Refused, if a part of the page cannot be read */
export async function drawPage(
  answer: unknown,
  page: Page,
  { call, exchange, concerns }: { call: AnyCall; exchange: Exchange; concerns: readonly Concern[] },
): Promise<string> {
  const { context, caller } = call;
  const { compatibility, baseUrl } = context;
  const read = (name: OperationName, { params = {}, query }: { params?: object; query?: object }) => {
    const route = createOwnRoute(name, exchange.route.bodyLimit);
    const { operation, handler } = route;
    if (operation.who !== 'anyone' || !('read' in handler)) throw new Error(`No page may read ${name}.`);
    const inner = {
      ...call,
      params: requireValid(operation.params, params, 'path'),
      query: operation.query && requireValid(operation.query, query ?? {}, 'query'),
    } as AnyCall;
    const applying = concerns.filter(({ applies }) => applies?.(route) ?? true);
    const { request, reply } = exchange;
    return answerRequest(applying, inner, { route, request, reply }, (one) =>
      handler.read(one, context.database),
    );
  };
  const request = {
    params: call.params,
    query: call.query ?? {},
    caller,
    baseUrl: baseUrl(),
    hasOtherNames: compatibility.requests !== undefined,
    read,
  } as unknown as PageRequest;
  const { text } = await page.render(answer as never, request);
  // Behind a proxy the service may have a path of its own.
  const prefix = new URL(baseUrl()).pathname.replace(/\/$/, '');
  return prefix ? text.replace(/( (?:href|src|action)=")\//g, `$1${prefix}/`) : text;
}
