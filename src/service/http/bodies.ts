import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../../contract/schema/limits.js';
import { chooseAnonymousMaxValues, refuseOversizedJson } from '../operation/json-limits.js';
import { Refused } from '../operation/refused.js';
import { SLOW_REQUEST, sendClientError } from './errors.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function acceptJsonBodies(app: FastifyInstance, limits: Limits): void {
  const anonymousMaxValues = chooseAnonymousMaxValues(limits);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const { headers, caller } = request;
      if (headers['idempotency-key'] !== undefined) {
        // The body itself may be large and would be held until the answer.
        request.bodyHash = createHash('sha256').update(body).digest();
      }
      // Decided: an empty body with Content-Type: application/json counts as no body.
      if (body.length === 0) return undefined;
      return parseJson(body, caller?.kind === 'none' ? anonymousMaxValues : undefined);
    },
  );
  app.addContentTypeParser('*', async ({ headers }: { headers: Record<string, unknown> }) => {
    // `curl -d ''` sends a Content-Type without a body.
    if (headers['content-length'] === '0') return undefined;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
      return undefined;
    throw new Refused('unsupported_media_type', 'Send the body as JSON with Content-Type: application/json.');
  });
}

/** Between the steps of a larger body, each of which takes tens of milliseconds, other requests are served. */
const LARGE_BODY = 1024 ** 2;

async function parseJson(body: Buffer, maxValues: number | undefined): Promise<unknown> {
  const letOthersPass = () => (body.length > LARGE_BODY ? immediate() : undefined);
  await letOthersPass();
  refuseOversizedJson(body, maxValues);
  try {
    const text = utf8.decode(body);
    await letOthersPass();
    const value: unknown = JSON.parse(text);
    await letOthersPass();
    return value;
  } catch {
    // The parser's message quotes the body, which may hold a secret.
    throw new Refused('malformed_json', 'The body is not valid JSON in UTF-8.');
  }
}

const PACE_INTERVAL_MS = 30_000;
/** The interval is counted in this many parts, of which a pause of this process takes up one at most. */
const PACE_PARTS = 10;
/** A sender that is slower than this per interval is cut off. */
const MIN_BYTES_PER_INTERVAL = 64 * 1024;

/**
 * Cuts off a request whose body stalls or trickles. Node's own timeout limits the whole request, which would
 * end slow but steady transfers too. Goes on after the answer, because the connection still waits for the body.
 */
export function watchBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers, socket } = request;
  if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return;
  let before = socket.bytesRead;
  let parts = 0;
  const watch = setInterval(() => {
    if (request.complete || socket.destroyed) return clearInterval(watch);
    parts += 1;
    if (parts % PACE_PARTS !== 0) return;
    const received = socket.bytesRead - before;
    before = socket.bytesRead;
    if (received >= MIN_BYTES_PER_INTERVAL) return;
    clearInterval(watch);
    const slow = Object.assign(new Error('The body arrived too slowly.'), { code: SLOW_REQUEST });
    if (!response.headersSent) sendClientError(slow, socket);
    socket.destroySoon();
  }, PACE_INTERVAL_MS / PACE_PARTS);
  watch.unref();
  request.once('close', () => {
    if (request.complete || socket.destroyed) clearInterval(watch);
  });
}

/** How many bodies of the largest size are held in memory at once. */
const MAX_LARGE_BODIES = 4;

/** Reserves memory for a body of at most `limit` bytes until the request is answered. */
export type BodyBudget = (request: FastifyRequest, reply: FastifyReply, limit: number) => void;

/** Smaller bodies are always received. */
const MAX_SMALL_BODY = 64 * 1024;

/**
 * Keeps many large bodies that arrive at once from filling memory.
 * @param largest bytes of the largest body
 * @returns a function that throws Refused unavailable if too many bodies are being received
 */
export function createBodyBudget(largest: number): BodyBudget {
  let left = MAX_LARGE_BODIES * largest;
  const held = new Map<string, number>();
  return ({ headers, caller }, reply, limit) => {
    // A chunked body may be of any size up to the limit; one announced as larger is refused unread.
    const announced =
      headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : limit;
    const size = announced > limit ? 0 : announced;
    if (size <= MAX_SMALL_BODY) return;
    // One user, or all anonymous clients, take half of what others leave at most, because a body may take hours to arrive.
    const user = caller.userId ?? caller.key;
    const before = held.get(user) ?? 0;
    const own = before + size;
    if (own > (left + before) / 2) {
      throw new Refused('unavailable', 'The service is handling too many large requests; try again soon.');
    }
    // The client is gone, and nothing would give the memory back.
    if (reply.raw.destroyed) return;
    left -= size;
    held.set(user, own);
    reply.raw.once('close', () => {
      left += size;
      const rest = (held.get(user) as number) - size;
      if (rest > 0) held.set(user, rest);
      else held.delete(user);
    });
  };
}
