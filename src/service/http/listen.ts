import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer, Server, type Socket } from 'node:net';
import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Configuration } from '../configuration/configuration.js';
import { PortTaken } from '../configuration/start-errors.js';

/** @returns where this machine reaches the service */
export async function listenOn(
  app: FastifyInstance,
  { host, port }: Pick<Configuration, 'host' | 'port'>,
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new PortTaken(host, port);
    throw error;
  }
  return formatUrl(app.server, host);
}

function formatUrl(server: Server | FastifyInstance['server'], host: string): string {
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

/** In a turn that takes longer, connections may come after the service has looked for them. */
const MAX_TURN_MS = 0.2;

/**
 * Refuses new connections, so that a proxy turns to another service, and serves those that were accepted. The kernel resets
 * connections that wait to be accepted, so all are accepted first, one in each turn of the event loop, and none is served
 * until a short turn in which none came.
 * @param http also serves the connections of the other servers
 * @returns after the last new connection; `ended` settles once all connections have ended
 */
async function stopListening(http: Server, others: readonly Server[]): Promise<{ ended: Promise<unknown> }> {
  const servers = [http, ...others];
  const serve = http.rawListeners('connection') as ((connection: Socket) => void)[];
  http.removeAllListeners('connection');
  const accepted: Socket[] = [];
  http.on('connection', (connection: Socket) => void accepted.push(connection));
  for (const server of servers) Object.assign(server, { pauseOnConnect: true });
  const start = performance.now();
  for (let isQuiet = false; !isQuiet && performance.now() - start < MAX_ACCEPTING_MS; ) {
    const [known, begun] = [accepted.length, performance.now()];
    await immediate();
    isQuiet = accepted.length === known && performance.now() - begun < MAX_TURN_MS;
  }
  // The method of an HTTP server also closes connections that are idle.
  const ended = servers.map((server) => new Promise((end) => void Server.prototype.close.call(server, end)));
  http.removeAllListeners('connection');
  for (const listener of serve) http.on('connection', listener);
  for (const connection of accepted) {
    http.emit('connection', connection);
    connection.resume();
  }
  return { ended: Promise.all(ended) };
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
  const { ended } = await stopListening(http, [socket]);
  await Promise.race([ended, pause(idleMs, undefined, { ref: false })]);
  // Requests that have come are read first: a connection is idle until then.
  await immediate();
  http.closeIdleConnections();
  await ended;
}
