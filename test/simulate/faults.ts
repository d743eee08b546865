import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { listenOn } from '../support/listen.js';

const EXCHANGE_FAULTS = ['request lost', 'answer lost', 'delayed', 'doubled', 'unavailable'] as const;
type ExchangeFault = (typeof EXCHANGE_FAULTS)[number];

/** What goes wrong in one run. Each boundary has its own numbers, so that it does not depend on the others' order. */
export class Faults {
  readonly counts = new Map<string, number>();
  readonly #seed: number;
  readonly #streams = new Map<string, () => number>();
  #over = false;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A number from 0 to 1, the next of a boundary. */
  draw(boundary: string): number {
    const stream = this.#streams.get(boundary) ?? createRandom(`${this.#seed} ${boundary}`);
    this.#streams.set(boundary, stream);
    return stream();
  }

  /** Whether something that happens in this share of cases happens now. */
  happens(what: string, share: number): boolean {
    const drawn = this.draw(what) < share;
    if (!drawn || this.#over) return false;
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
    return true;
  }

  pickExchange(boundary: string): ExchangeFault | undefined {
    const kind = EXCHANGE_FAULTS[
      Math.floor(this.draw(`${boundary} kind`) * EXCHANGE_FAULTS.length)
    ] as ExchangeFault;
    return this.happens(boundary, 0.2) ? kind : undefined;
  }

  /** From now on all goes well. */
  end(): void {
    this.#over = true;
  }
}

/** Numbers from 0 to 1 that only depend on a text: FNV-1a, then Mulberry32. */
function createRandom(text: string): () => number {
  let state = 0x811c9dc5;
  for (const byte of Buffer.from(text)) state = Math.imul(state ^ byte, 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A way to a server on which requests and answers are lost, delayed and doubled. */
export interface Gate {
  readonly url: string;
  /** Where requests go; absent: nowhere, and answers on their way are lost. */
  target: string | undefined;
  close(): Promise<void>;
}

export async function openGate(name: string, faults: Faults): Promise<Gate> {
  const server = await listenOn((asked, answer) => {
    pass(asked, answer).catch(() => answer.destroy());
  });
  const gate: Gate = { ...server, target: undefined };
  const pass = async (asked: IncomingMessage, answer: ServerResponse) => {
    const body = await buffer(asked);
    const { target } = gate;
    // Reads come as often as time allows, so they must not move the numbers.
    const isWrite = asked.method !== 'GET';
    const fault = isWrite && target ? faults.pickExchange(name) : undefined;
    if (!target || fault === 'request lost') return answer.destroy();
    if (fault === 'unavailable')
      return answer.writeHead(503, { 'content-type': 'text/html' }).end('Try later.');
    if (fault === 'delayed') await pause(20);
    let reply = await forwardRequest(target, asked, body);
    if (fault === 'doubled') reply = await forwardRequest(target, asked, body);
    if (fault === 'answer lost' || gate.target !== target) return answer.destroy();
    const { 'transfer-encoding': _, connection: __, ...headers } = reply.headers;
    return answer
      .writeHead(reply.status, { ...headers, 'content-length': reply.body.length })
      .end(reply.body);
  };
  return gate;
}

async function forwardRequest(target: string, { method, url = '/', headers }: IncomingMessage, body: Buffer) {
  const { host: _, ...passed } = headers;
  const onward = request(new URL(url, target), { method, headers: passed, agent: false });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once('response', resolve).once('error', reject);
  });
  onward.end(body);
  const reply = await answered;
  return { status: reply.statusCode ?? 502, headers: reply.headers, body: await buffer(reply) };
}
