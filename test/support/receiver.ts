import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import { type Answered, ask } from './service.js';

/** One webhook, as it came. */
export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  /** Byte by byte. */
  readonly text: string;
  readonly body: Answered;
}

export type ReceiverAnswer =
  | number
  | readonly [status: number, headers: Record<string, string>]
  /** It answers nothing, and the connection stays open. */
  | 'silence';

/** A receiver of webhooks; `answer` returns the answer to the n-th. */
export async function receiverForTest(
  answer: (call: number) => ReceiverAnswer | Promise<ReceiverAnswer> = () => 204,
): Promise<{ url: string; port: number; received: ReceivedWebhook[]; close: () => Promise<void> }> {
  const received: ReceivedWebhook[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', async () => {
      received.push({ headers: request.headers, text, body: JSON.parse(text) });
      const given = await answer(received.length);
      if (given === 'silence') return;
      const [status, headers] = [given].flat() as [number, Record<string, string>];
      response.writeHead(status, headers).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = async () => {
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeAllConnections();
    await closed;
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, received, close };
}

/** The statuses that were received. */
export const listStatuses = (received: readonly ReceivedWebhook[]) => received.map(({ body }) => body.status);

interface Asking {
  readonly url: string;
  readonly ownerToken: string;
}

export async function readWebhookSecret({ url, ownerToken: token }: Asking): Promise<string> {
  return (await ask(`${url}/users/webhook-secret`, { token })).body.secret;
}

/** Whether a receiver that knows nothing but the Standard Webhooks takes it. */
export function isVerified({ text, headers }: ReceivedWebhook, secret: string): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** Whether it was signed with this secret, regardless of when. */
export function isSigned({ text, headers }: ReceivedWebhook, secret: string): boolean {
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`]),
  );
  return signature === new Webhook(secret).sign(id as string, new Date(Number(timestamp) * 1000), text);
}

/** The delivery log, oldest first. */
export async function listDeliveries({ url, ownerToken: token }: Asking, query = ''): Promise<Answered[]> {
  return (await ask(`${url}/users/webhook-deliveries${query}`, { token })).body.reverse();
}
