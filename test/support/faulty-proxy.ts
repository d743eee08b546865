import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** Every way in which a request fails. */
export const MISHAPS = [
  'refused',
  'request cut',
  'answer cut',
  'answer lost',
  '500 before',
  '500 after',
  '429',
  'slow',
] as const;

export type Mishap = (typeof MISHAPS)[number];

export interface FaultyProxyOptions {
  /** The share of requests that fail, 0 to 1. */
  readonly share: number;
  readonly seed: number;
  /** How long a slow answer takes. Milliseconds. */
  readonly slowMs: number;
}

export interface FaultyProxy {
  readonly url: string;
  /** How often each failure happened, and how many requests succeeded. */
  readonly counts: Record<Mishap | 'well', number>;
}

/** A proxy to a service on which a share of the requests fails, reproducibly by seed. */
export async function faultyProxyForTest(
  target: () => string,
  options: FaultyProxyOptions,
): Promise<FaultyProxy> {
  const random = createRandom(options.seed);
  const counts = Object.fromEntries([...MISHAPS, 'well'].map((name) => [name, 0])) as FaultyProxy['counts'];
  let last = Math.floor(random() * MISHAPS.length);
  const server = createServer((asked, answer) => {
    const mishap = random() < options.share ? MISHAPS[++last % MISHAPS.length] : undefined;
    counts[mishap ?? 'well'] += 1;
    passExchange(asked, answer, { target: target(), mishap, slowMs: options.slowMs }).catch(() =>
      asked.socket.destroy(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts };
}

interface Passing {
  readonly target: string;
  readonly mishap: Mishap | undefined;
  readonly slowMs: number;
}

async function passExchange(
  asked: IncomingMessage,
  answer: ServerResponse,
  { target, mishap, slowMs }: Passing,
) {
  const cut = () => asked.socket.destroy();
  if (mishap === 'refused') return cut();
  if (mishap === '500 before') return refuseRequest(asked, answer, 500);
  if (mishap === '429') return refuseRequest(asked, answer, 429);
  const body = await readBytes(asked);
  const onward = request(new URL(asked.url ?? '/', target), { method: asked.method, headers: asked.headers });
  const answered = new Promise<IncomingMessage>((done, fail) => {
    onward.once('response', done);
    onward.once('error', fail);
  });
  if (mishap === 'request cut' && body.length > 0) {
    answered.catch(() => {});
    onward.write(body.subarray(0, body.length / 2), () => onward.destroy());
    return cut();
  }
  onward.end(body);
  const reply = await answered;
  const content = await readBytes(reply);
  if (mishap === 'answer lost' || mishap === 'request cut') return cut();
  if (mishap === '500 after') return refuseRequest(asked, answer, 500);
  if (mishap === 'slow') await pause(slowMs);
  const { 'transfer-encoding': _, ...headers } = reply.headers;
  answer.writeHead(reply.statusCode ?? 502, { ...headers, 'content-length': content.length });
  if (mishap !== 'answer cut') return answer.end(content);
  answer.write(content.subarray(0, content.length / 2), cut);
}

function refuseRequest(asked: IncomingMessage, answer: ServerResponse, status: number): void {
  asked.resume();
  const headers = { 'content-type': 'text/html', ...(status === 429 && { 'retry-after': '0' }) };
  answer.writeHead(status, headers).end('<h1>Something is wrong.</h1>');
}

async function readBytes(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
