import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refused } from '../refused.js';

/** So many of the largest bodies are held in memory at once. */
const largest = 4;

/** Takes the room that a request's body needs, until it is answered. */
export type Room = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Keeps large bodies, all read at once, from filling memory.
 * @param limit of one body, in bytes
 * @returns a function that throws Refused unavailable where there is no room now
 */
export function roomFor(limit: number): Room {
  let left = largest * limit;
  return ({ headers }, reply) => {
    // One that comes in chunks may be as large as any; one that announces more is refused unread.
    const announced =
      headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : limit;
    const size = announced > limit ? 0 : announced;
    if (size > left) {
      throw new Refused('unavailable', 'The service has too many large requests to hold; try again soon.');
    }
    left -= size;
    reply.raw.once('close', () => {
      left += size;
    });
  };
}
