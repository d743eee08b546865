import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
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
