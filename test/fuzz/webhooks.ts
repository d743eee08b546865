import { connect } from 'node:net';
import fc from 'fast-check';
import { readRawRequest } from '../../src/cli/commands/webhook-verify.js';
import { Failure } from '../../src/cli/terminal/failure.js';
import type { Output } from '../../src/cli/terminal/output.js';
import type { Event } from '../../src/cli/webhooks/event.js';
import { Inbox } from '../../src/cli/webhooks/inbox.js';
import { receiveWebhooks } from '../../src/cli/webhooks/receive.js';
import type { SecretsInUse } from '../../src/cli/webhooks/secrets.js';
import { verifyWebhook } from '../../src/client/webhook.js';
import { webhookHeaders } from '../../src/contract/events.js';
import { signWebhook } from '../../src/wire/webhook-signature.js';
import { anyJson, createValues, document, mutateJson } from './schema-values.js';
import { mutateBytes, type Target } from './target.js';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const NOW_MS = Date.parse('2030-01-01T00:00:00Z');

const { ImageTask, VideoCreations } = document.components.schemas;
const received = fc.oneof(createValues(ImageTask), createValues(VideoCreations));
const bodies = fc
  .oneof(received, mutateJson(received), anyJson)
  .map((value) => Buffer.from(JSON.stringify(value) ?? ''));

const genuine = fc.tuple(bodies, fc.uuid()).map(([body, id]) => {
  const timestamp = String(NOW_MS / 1000);
  const signature = signWebhook(SECRET, { id, timestamp, body });
  const head = [
    'POST /hook HTTP/1.1',
    'host: 127.0.0.1',
    'connection: close',
    'content-type: application/json',
    `content-length: ${body.length}`,
    `${webhookHeaders.id}: ${id}`,
    `${webhookHeaders.timestamp}: ${timestamp}`,
    `${webhookHeaders.signature}: ${signature}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
});

/** Webhooks with some bytes changed: what is taken was signed byte by byte, and anything else is refused. */
export async function createWebhooks(): Promise<Target<Buffer>> {
  let taken: Event[] = [];
  const handled = new Set<string>();
  const inbox = new Inbox({
    handled: { has: (id: string) => handled.has(id), add: () => {} } as never,
    show: async (event) => void taken.push(event),
    act: async () => ({ status: 204 }),
    repeat: async () => false,
  });
  const warnings: string[] = [];
  const output = { warn: async (text: string) => void warnings.push(text) } as unknown as Output;
  const secrets = { all: [SECRET], renew: async () => false } as unknown as SecretsInUse;
  const receiver = await receiveWebhooks({ output, now: () => NOW_MS, port: 0, secrets, inbox });
  const statuses = new Map<string, number>();

  const run = async (bytes: Buffer) => {
    taken = [];
    const status = /^HTTP\/1\.1 (\d+)/.exec(await exchangeBytes(receiver.url, bytes))?.[1] ?? 'no answer';
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status.startsWith('5')) throw new Error(`The receiver answered ${status}.`);
    for (const { id, body, headers } of taken) {
      const [timestamp, signature] = [
        headers[webhookHeaders.timestamp],
        headers[webhookHeaders.signature],
      ].map(String);
      const resigned = signWebhook(SECRET, { id, timestamp: timestamp as string, body });
      if (!signature?.includes(resigned)) throw new Error('A webhook was taken whose signature is wrong.');
    }
    verifySaved(bytes);
  };
  const summary = () => `answers: ${[...statuses].map((pair) => pair.join(': ')).join(', ')}`;
  return { cases: mutateBytes(genuine), run, summary, close: () => receiver.close() };
}

/** As `regen webhook verify` reads a request from a file. */
function verifySaved(bytes: Buffer): void {
  try {
    const { headers, body } = readRawRequest(bytes);
    const header = (name: string) => headers.get(name) ?? '';
    const [id, timestamp, signature] = [
      header(webhookHeaders.id),
      header(webhookHeaders.timestamp),
      header(webhookHeaders.signature),
    ];
    verifyWebhook({ id, timestamp, signature, body }, [SECRET], NOW_MS);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

/** Sends bytes as they are. @returns the bytes of the answer */
function exchangeBytes(url: string, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      // A request that is cut is waited for; only its sender can end it.
    });
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
    socket.end(bytes);
  });
}
