import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { MAX_ANSWER_BYTES } from '../operation/json-limits.js';
import { Refused } from '../operation/refused.js';
import { FairQueue } from '../queue/fair-queue.js';
import type { Concern } from './concern.js';
import { nameCaller } from './rate-limit.js';

/** Answers of the largest size that may wait for their readers, of all clients and of one. */
const MAX_LARGE_ANSWERS = 8;
const MAX_OWN_LARGE_ANSWERS = 2;

const TURNS_BETWEEN_LISTS = 10;

/** Smaller answers are always sent. */
const MAX_SMALL_BYTES = 64 * 1024;

/** Longer than most answers take to be read, and shorter than clients that do not read are kept. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Limits the memory of answers: lists are built one after another, users in turn, and large answers that are not read yet
 * have a limit for each user and for all.
 */
export class AnswerBudget {
  readonly #turns: FairQueue;
  #held = 0;
  readonly #heldBy = new Map<string, number>();

  /** @param atOnce how many lists are built in parallel */
  constructor(atOnce: number) {
    this.#turns = new FairQueue(atOnce, atOnce);
  }

  /**
   * Builds an answer that may be large, once it is the user's turn.
   * @throws Refused unavailable if the user has too many unread answers; what `build` throws
   */
  takeTurn<Result>(user: string, response: ServerResponse, build: () => Promise<Result>): Promise<Result> {
    this.#requireRoom(user, 1);
    return new Promise((resolve, reject) => {
      void this.#turns.run(user, async () => {
        await this.#build(user, response, build).then(resolve, reject);
        // Other requests are served between two lists: a new connection takes several turns of the event loop.
        for (let turn = 0; turn < TURNS_BETWEEN_LISTS; turn += 1) await setImmediate();
      });
    });
  }

  async #build<Result>(
    user: string,
    response: ServerResponse,
    build: () => Promise<Result>,
  ): Promise<Result> {
    if (response.destroyed) throw new Refused('unavailable', 'The client closed the connection.');
    this.#requireRoom(user, 1);
    return build();
  }

  /**
   * Counts an answer until it is sent.
   * @returns what to send; bytes are held once, a text several times
   * @throws Refused unavailable
   */
  hold<Body>(user: string, response: ServerResponse, body: Body): Body | Buffer {
    if (typeof body !== 'string' && !Buffer.isBuffer(body)) return body;
    if (body.length <= MAX_SMALL_BYTES || response.destroyed) return body;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const size = bytes.length;
    this.#requireRoom(user, size);
    this.#add(user, size);
    response.once('close', () => this.#add(user, -size));
    return bytes;
  }

  #add(user: string, size: number): void {
    this.#held += size;
    const own = (this.#heldBy.get(user) ?? 0) + size;
    if (own > 0) this.#heldBy.set(user, own);
    else this.#heldBy.delete(user);
  }

  #requireRoom(user: string, size: number): void {
    const own = this.#heldBy.get(user) ?? 0;
    const isOwnFull = own > 0 && own + size > MAX_OWN_LARGE_ANSWERS * MAX_ANSWER_BYTES;
    if (!isOwnFull && this.#held + size <= MAX_LARGE_ANSWERS * MAX_ANSWER_BYTES) return;
    const whose = isOwnFull ? 'You have' : 'The service has';
    throw new Refused(
      'unavailable',
      `${whose} too many large answers that are not read yet; read them, or try again soon.`,
      undefined,
      RETRY_AFTER_SECONDS,
    );
  }
}

/** Builds lists in turns. */
export function limitLists(budget: AnswerBudget): Concern {
  return {
    applies: ({ operation }) => isListAnswer(operation.response),
    around: (call, next, { request, reply }) =>
      budget.takeTurn(nameCaller(request), reply.raw, () => next(call)),
  };
}

/** Whether an answer lists objects, so that its size depends on how many there are. */
function isListAnswer(response: z.ZodType | undefined): boolean {
  if (response instanceof z.ZodObject) return Object.values(response.shape).some(isListOfObjects);
  return response !== undefined && isListOfObjects(response);
}

function isListOfObjects(schema: unknown): boolean {
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodObject;
}
