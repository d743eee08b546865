import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createServer as createSecureServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NetworkError } from '../../src/client/errors.js';
import { createTransport } from '../../src/client/transport.js';
import { waitFor } from '../support/wait-for.js';
import { createCertificate } from './certificate.js';
import { listenForTest } from './server.js';

/** What is buffered of a body that is not read, to the byte: the parser then waits, and the connection has nothing more. */
const body = Buffer.alloc(64 * 1024, 'a');
const { cert, key } = createCertificate(['registry.example']);

interface Answer {
  readonly head: readonly string[];
  readonly body?: Buffer;
  /** Whether the body is all of it. */
  readonly isWhole: boolean;
  /** Ends with a reset instead, once all has arrived. */
  readonly isReset?: boolean;
}

const close = 'connection: close';
const length = `content-length: ${body.length}`;
const longer = `content-length: ${body.length + 1}`;
const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body]);
const chunks = Buffer.concat([chunk, Buffer.from('\r\n0\r\n\r\n')]);

const answers: Readonly<Record<string, Answer>> = {
  'with a length': { head: ['HTTP/1.1 200 OK', length, close], body, isWhole: true },
  'that promises to keep the connection': { head: ['HTTP/1.1 200 OK', length], body, isWhole: true },
  'of HTTP/1.0': { head: ['HTTP/1.0 200 OK', length], body, isWhole: true },
  'without a length': { head: ['HTTP/1.1 200 OK'], body, isWhole: true },
  'of an error': { head: ['HTTP/1.1 503 Busy', length, close], body, isWhole: true },
  'with an encoding': {
    head: ['HTTP/1.1 200 OK', length, close, 'content-encoding: gzip'],
    body,
    isWhole: true,
  },
  'in chunks': {
    head: ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', close],
    body: chunks,
    isWhole: true,
  },
  'in chunks, without the last': {
    head: ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', close],
    body: chunk,
    isWhole: false,
  },
  'that is too short': { head: ['HTTP/1.1 200 OK', longer, close], body, isWhole: false },
  'that is reset': { head: ['HTTP/1.1 200 OK', longer, close], body, isWhole: false, isReset: true },
  'that is reset at its end': {
    head: ['HTTP/1.1 200 OK', length, close],
    body,
    isWhole: false,
    isReset: true,
  },
  'without content': { head: ['HTTP/1.1 204 No Content', close], isWhole: true },
  'that nothing has changed': { head: ['HTTP/1.1 304 Not Modified', close], isWhole: true },
};

/** A server that gives each connection this answer and ends it. */
async function serveAnswer({ head, body, isReset }: Answer, isSecure: boolean) {
  let reset = () => {};
  const answer = (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      if (isReset) socket.write(body as Buffer);
      else socket.end(body ?? '');
    });
  };
  const server: Server = isSecure ? createSecureServer({ cert, key }, answer) : createServer(answer);
  server.on('connection', (socket: Socket) => {
    reset = () => void socket.resetAndDestroy();
  });
  return { url: new URL(await listenForTest(server, isSecure ? 'https' : 'http')), reset: () => reset() };
}

/** The connections to servers, as undici announces them; that to a proxy, through which others go, is not the last one. */
function watchConnections(): Socket[] {
  const sockets: Socket[] = [];
  const remember = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe('undici:client:connected', remember);
  onTestFinished(() => void unsubscribe('undici:client:connected', remember));
  return sockets;
}

/** A proxy that forwards and tunnels everything to a port of loopback. */
async function openProxy(port: string): Promise<string> {
  const tunnel = (client: Socket, first: string) => {
    const through = connect(Number(port), '127.0.0.1', () => {
      if (first === '') client.write('HTTP/1.1 200 OK\r\n\r\n');
      else through.write(first);
      through.pipe(client).pipe(through);
    });
    for (const end of [through, client]) end.on('error', () => [through, client].map((one) => one.destroy()));
    onTestFinished(() => void through.destroy());
  };
  const server = createHttpServer((asked) => tunnel(asked.socket, 'GET / HTTP/1.1\r\n\r\n'));
  server.on('connect', (_, client) => tunnel(client as Socket, ''));
  return listenForTest(server);
}

const ways = [
  { way: 'directly', isSecure: false, isProxied: false },
  { way: 'over TLS', isSecure: true, isProxied: false },
  { way: 'through a proxy', isSecure: false, isProxied: true },
  { way: 'through a tunnel', isSecure: true, isProxied: true },
];

describe.each(ways)(
  'an answer whose server closes the connection at once, $way',
  ({ isSecure, isProxied }) => {
    async function exchange(answer: Answer, method = 'GET') {
      const { url, reset } = await serveAnswer(answer, isSecure);
      const proxy = isProxied ? await openProxy(url.port) : undefined;
      const sockets = watchConnections();
      const transport = createTransport({ env: { http_proxy: proxy, https_proxy: proxy }, ca: cert });
      onTestFinished(() => transport.close());
      if (isProxied) url.host = 'registry.example';
      const given = await transport.exchange({ method, url, headers: {} });
      const socket = sockets.at(-1) as Socket;
      // All of the body has arrived, and none was read.
      await waitFor(() => {
        expect(socket.destroyed || socket.bytesRead >= (answer.body?.length ?? 0)).toBe(true);
      });
      if (answer.isReset) reset();
      await waitFor(() => expect(socket.destroyed || socket.readableLength > 0).toBe(true));
      return given;
    }

    // What a proxy makes of a reset is up to the proxy.
    const given = Object.entries(answers).filter(([, { isReset }]) => !(isReset && isProxied));

    it.each(given)('is read as far as it came: one %s', async (_, answer) => {
      const given = await exchange(answer);
      const reading = buffer(given.body);
      if (answer.isWhole) expect((await reading).equals(answer.body ? body : Buffer.alloc(0))).toBe(true);
      else await expect(reading).rejects.toThrow(NetworkError);
    });

    it.each(given)('is dropped: one %s', async (_, answer) => {
      await (await exchange(answer)).discard();
    });

    it('has no body if only its head was asked for', async () => {
      const given = await exchange({ head: ['HTTP/1.1 200 OK', length, close], isWhole: true }, 'HEAD');
      expect((await buffer(given.body)).length).toBe(0);
    });
  },
);
