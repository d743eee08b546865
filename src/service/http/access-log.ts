import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Log } from '../configuration/log.js';

interface RequestFacts {
  readonly id: string;
  /** The pattern of its path, and the client behind proxies, once the framework has found them. */
  route?: string;
  client?: string;
  /** The user whose credential it has, and the kind of the credential. */
  user?: string | undefined;
  credential?: string;
}

const requests = new WeakMap<IncomingMessage, RequestFacts>();

const REQUEST_ID = /^[\w.:+/=-]{1,128}$/;

/** The facts of a request. Its id is the one that it came with, so that logs of a proxy and of the service agree. */
export function getRequestFacts(request: IncomingMessage): RequestFacts {
  const known = requests.get(request);
  if (known) return known;
  const given = request.headers['x-request-id'];
  const facts = { id: typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID() };
  requests.set(request, facts);
  return facts;
}

/** Logs every request when its response has ended. The query is left out, because it may hold a signature. */
export function logRequests(server: Server, log: Log): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const start = performance.now();
    const address = request.socket.remoteAddress;
    response.once('close', () => {
      const { id, route, client = address, user, credential } = getRequestFacts(request);
      log('info', 'request', {
        requestId: id,
        client,
        user,
        credential,
        method: request.method,
        path: request.url?.split('?')[0]?.slice(0, 200),
        route,
        status: response.statusCode,
        ms: Math.round((performance.now() - start) * 10) / 10,
        ...(!response.writableFinished && { aborted: true }),
      });
    });
  });
}
