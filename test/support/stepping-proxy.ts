import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Where an exchange between a client and the service stands. */
export interface ProxyStep {
  readonly method: string;
  readonly path: string;
  /** `asked`: the request came. `half`: half of its body went on. `answered`: the service answered, the client knows nothing yet. */
  readonly at: 'asked' | 'half' | 'answered';
}

/**
 * A way to a service that tells at each step of each exchange, and holds the exchange until the listener is
 * done.
 * @param target where the service listens
 */
export async function steppingProxyForTest(
  target: () => string,
  listen: (moment: ProxyStep) => void | Promise<void>,
): Promise<string> {
  const server = createServer((asked, answer) => {
    passExchange(asked, answer, target(), listen).catch(() => answer.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function passExchange(
  asked: IncomingMessage,
  answer: ServerResponse,
  target: string,
  listen: (moment: ProxyStep) => void | Promise<void>,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = asked;
  const tell = (at: ProxyStep['at']) => listen({ method, path: url.split('?')[0] as string, at });
  await tell('asked');
  const { host: _, ...passed } = headers;
  const onward = request(new URL(url, target), { method, headers: passed });
  asked.once('close', () => asked.complete || onward.destroy());
  onward.on('error', () => answer.destroy());
  const answered = new Promise<IncomingMessage>((done) => onward.once('response', done));
  const half = Number(headers['content-length'] ?? 0) / 2;
  let sent = 0;
  for await (const chunk of asked) {
    const before = sent;
    sent += chunk.length;
    onward.write(chunk);
    if (before < half && sent >= half && sent < half * 2) await tell('half');
  }
  onward.end();
  const reply = await answered;
  await tell('answered');
  answer.writeHead(reply.statusCode ?? 502, reply.headers);
  reply.pipe(answer);
}
