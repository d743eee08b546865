import type { FastifyInstance } from 'fastify';
import { contract, getOperation, type OperationName } from '../../contract/index.js';
import { listOperations } from '../../contract/operation.js';
import { openSession, SESSION_COOKIE, SIGN_IN_PATH } from '../auth/page-sessions.js';
import type { Handler } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { requireValid } from '../operation/validation.js';
import type { PageRequest } from '../pages/page.js';
import { PAGE_HEADERS, PAGES, type Page, type PageName } from '../pages/page-list.js';
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
    const { drawSignedIn } = await import('../pages/error-page.js');
    return reply
      .headers(PAGE_HEADERS)
      .header('set-cookie', cookie + secure)
      .header('refresh', `0; url=${prefix}${to}`)
      .send(drawSignedIn(prefix + to).text);
  });
  app.get('/web/style.css', async (_, reply) => {
    const { STYLE } = await import('../pages/style.js');
    return reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=3600').send(STYLE);
  });
}

/** The page of a route: the answer of its operation is read as usual, and drawn. */
export function listPageRoutes({ configuration }: Pick<Context, 'configuration'>): readonly Route[] {
  return Object.entries(PAGES).map(([name, page]: [string, Page]) => {
    const route = createOwnRoute(page.operation, configuration.limits.anonymousBody);
    const operation = page.query ? { ...route.operation, query: page.query } : route.operation;
    return { ...route, operation, path: page.path, page: { ...page, name: name as PageName } };
  });
}

function createOwnRoute(name: OperationName, bodyLimit: number): Route {
  const operation = getOperation(name);
  const handler = handlers[name] as Handler<OperationName>;
  return { name, operation, handler, path: operation.path, names: undefined, bodyLimit };
}

/** @returns draws the answer of a call @throws Refused, if a part of the page cannot be read */
export type DrawPage = (
  answer: unknown,
  name: PageName,
  call: AnyCall,
  exchange: Exchange,
) => Promise<string>;

/** @param concerns those of all operations */
export function createPageDrawer(context: Context, concerns: readonly Concern[]): DrawPage {
  const { anonymousBody } = context.configuration.limits;
  const parts = new Map(
    [...listOperations(contract)].flatMap(([name, { who }]) => {
      const route = createOwnRoute(name as OperationName, anonymousBody);
      if (who !== 'anyone' || !('read' in route.handler)) return [];
      const applying = concerns.filter(({ applies }) => applies?.(route) ?? true);
      return [[name, { route, applying, handler: route.handler }] as const];
    }),
  );
  return async (answer, name, call, { request, reply }) => {
    const read = (part: OperationName, { params = {}, query }: { params?: object; query?: object }) => {
      const found = parts.get(part);
      if (!found) throw new Error(`No page may read ${part}.`);
      const { route, applying, handler } = found;
      const inner = {
        ...call,
        params: requireValid(route.operation.params, params, 'path'),
        query: route.operation.query && requireValid(route.operation.query, query ?? {}, 'query'),
      } as AnyCall;
      return answerRequest(applying, inner, { route, request, reply }, (one) =>
        handler.read(one, context.database),
      );
    };
    const { drawings } = await import('../pages/pages.js');
    const baseUrl = context.baseUrl();
    const { text } = await drawings[name](
      answer as never,
      {
        params: call.params,
        query: call.query ?? {},
        caller: call.caller,
        baseUrl,
        hasOtherNames: context.compatibility.requests !== undefined,
        hasUplink: context.configuration.uplink !== undefined,
        serviceFlag: context.isEmbedded ? '' : ` --base-url ${baseUrl}`,
        read,
      } as unknown as PageRequest,
    );
    // Behind a proxy the service may have a path of its own.
    const prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
    return prefix ? text.replace(/( (?:href|src|action)=")\//g, `$1${prefix}/`) : text;
  };
}
