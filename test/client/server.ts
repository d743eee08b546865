import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestService {
  readonly url: string;
  /** Every request that was received, in order, with its whole body. */
  readonly seen: Seen[];
}

export type Reply = (request: Seen, response: ServerResponse, number: number) => void;

/** Starts a server on a free port of loopback that ends with the test. `number` counts requests from 1. */
export async function serveForTest(reply: Reply): Promise<TestService> {
  const seen: Seen[] = [];
  const url = await listenForTest(
    createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString() };
      reply(one, response, seen.push(one));
    }),
  );
  return { url, seen };
}

/** Starts one whose handler reads the request itself, or not at all. */
export function serveRaw(listener: RequestListener): Promise<string> {
  return listenForTest(createServer(listener));
}

export async function listenForTest(server: Server, scheme = 'http', host = '127.0.0.1'): Promise<string> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const shown = host.includes(':') ? `[${host}]` : host;
  return `${scheme}://${shown}:${(server.address() as AddressInfo).port}`;
}

export function sendJson(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** A clock that only advances by sleeping, and the pauses so far. */
export function createFakeClock(start = 0) {
  const pauses: number[] = [];
  let time = start;
  return {
    pauses,
    now: () => time,
    sleep: async (ms: number) => {
      pauses.push(ms);
      time += ms;
    },
    random: () => 1,
  };
}
