import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer, Server } from 'node:net';
import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Configuration } from '../configuration/configuration.js';
import { PortTaken } from '../configuration/start-errors.js';

/** @returns where this machine reaches the service */
export async function listenOn(app: FastifyInstance, { host, port }: Configuration): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new PortTaken(host, port);
    throw error;
  }
  return formatUrl(app.server, host);
}

/** @returns where this machine reaches a server that listens on a host */
export function formatUrl(server: Server | FastifyInstance['server'], host: string): string {
  const listening = (server.address() as AddressInfo).port;
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const name = everywhere[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${listening}`;
}

/**
 * Accepts connections to the same server on a socket of the file system. The embedded owner's credential only
 * travels there, because another program may take the port once the service has ended.
 */
export async function listenOnSocket(app: FastifyInstance, path: string): Promise<Server> {
  const server = createServer((connection) => void app.server.emit('connection', connection));
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
    if (process.platform !== 'win32') chmodSync(path, 0o600);
  } catch (error) {
    await app.close();
    throw error;
  }
  return server;
}

/**
 * How long a connection may be idle after an answer that did not announce its end: its next request may be on its way. A
 * proxy that closes idle connections sooner never meets one that ends.
 */
export const LAST_IDLE_MS = 2_000;

/** Connections may come faster than the service accepts them. */
const MAX_ACCEPTING_MS = 2_000;

/**
 * Refuses new connections, so that a proxy turns to another service, and serves those that were accepted to their end. The
 * kernel resets connections that wait to be accepted, so this begins after a turn in which none came.
 */
async function stopListening(server: Server): Promise<void> {
  let isWaiting = true;
  const accept = () => {
    isWaiting = true;
  };
  server.on('connection', accept);
  for (const start = performance.now(); isWaiting && performance.now() - start < MAX_ACCEPTING_MS; ) {
    isWaiting = false;
    // One connection is accepted in each turn of the event loop.
    await immediate();
  }
  server.off('connection', accept);
  // The method of an HTTP server also closes connections that are idle.
  await new Promise<void>((resolve) => {
    Server.prototype.close.call(server, () => resolve());
  });
}

/**
 * Ends an HTTP server and the one of its socket once all connections have ended.
 * @param idleMs after this, connections that are idle end
 */
export async function closeServers(
  http: FastifyInstance['server'],
  socket: Server,
  idleMs: number,
): Promise<void> {
  const closed = Promise.all([stopListening(http), stopListening(socket)]);
  await Promise.race([closed, pause(idleMs, undefined, { ref: false })]);
  http.closeIdleConnections();
  await closed;
}
