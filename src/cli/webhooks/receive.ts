import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '../../client/webhook.js';
import { webhookHeaders } from '../../contract/events.js';
import { BodyTooLong, readBody } from '../../wire/read-body.js';
import { Failure } from '../terminal/failure.js';
import type { CatchUpContext } from './catch-up.js';
import { parseEvent } from './event.js';
import type { Reply } from './inbox.js';

interface Receiver {
  readonly url: string;
  /** Accepts no more requests, and waits for those in progress. */
  close(): Promise<void>;
}

interface ReceiveContext extends Pick<CatchUpContext, 'output' | 'now' | 'secrets' | 'inbox'> {
  readonly port: number;
}

// Decided: the payload of a video can have a million characters of up to 4 bytes.
const MAX_BODY_BYTES = 8 * 1024 ** 2;

// Decided: the listener is on loopback only; other machines reach it through a tunnel.
/** Listens on loopback for webhooks, at any path. */
export async function receiveWebhooks(context: ReceiveContext): Promise<Receiver> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
    answerRequest(context, request).then(
      (reply) => sendReply(response, reply),
      () => response.destroy(),
    );
  });
  await listenOnPort(server, context.port);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      const closed = new Promise((ended) => server.close(ended));
      server.closeIdleConnections();
      const cutting = setTimeout(() => server.closeAllConnections(), 2_000);
      await closed;
      clearTimeout(cutting);
    },
  };
}

async function listenOnPort(server: Server, port: number): Promise<void> {
  await new Promise<void>((listening, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return failed(error);
      const taken = { code: 'port_taken', hint: 'Choose another port with --port.' };
      failed(new Failure(`Port ${port} is already in use.`, taken));
    });
    server.listen(port, '127.0.0.1', listening);
  });
}

function sendReply(response: ServerResponse, { status, retryAfter }: Reply): void {
  // The sender reads only the status; an open connection would delay the end of the command.
  const headers = { connection: 'close', ...(retryAfter !== undefined && { 'retry-after': retryAfter }) };
  response.writeHead(status, headers).end();
}

async function answerRequest(
  { output, now, secrets, inbox }: ReceiveContext,
  request: IncomingMessage,
): Promise<Reply> {
  if (request.method !== 'POST') return { status: 405 };
  const body = await readRequestBody(request);
  if (!body) return { status: 413 };
  const read = (name: 'id' | 'timestamp' | 'signature') =>
    String(request.headers[webhookHeaders[name]] ?? '');
  const webhook = { id: read('id'), timestamp: read('timestamp'), signature: read('signature'), body };
  const { id } = webhook;
  const verify = () => verifyWebhook(webhook, secrets.current.accepted, now());
  let problems = verify();
  if (problems.some(({ kind }) => kind === 'signature') && (await secrets.renew())) problems = verify();
  const [problem] = problems;
  if (problem) {
    await output.warn(`Refused ${id ? `webhook ${id}` : 'a request'}: ${problem.header} ${problem.message}.`);
    return { status: 401 };
  }
  const headers = request.headers as Readonly<Record<string, string | readonly string[]>>;
  return inbox.take(parseEvent({ id, body, headers }));
}

/** @returns undefined if it is too large */
async function readRequestBody(request: IncomingMessage): Promise<Buffer | undefined> {
  try {
    // A destroyed request could not be answered.
    return await readBody(request.iterator({ destroyOnReturn: false }), MAX_BODY_BYTES);
  } catch (error) {
    if (error instanceof BodyTooLong) return undefined;
    throw error;
  }
}
