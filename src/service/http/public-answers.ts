import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isCacheable } from '../../contract/operation.js';
import { readRevision } from '../database/sqlite.js';
import type { Context } from '../operation/context.js';
import { PAGE_HEADERS } from '../pages/page-list.js';
import type { Concern, Route } from './concern.js';
import { matchesEtag } from './send-file.js';

/** Headers of every answer; routes replace what differs. */
export const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** What anyone may read, as it was sent. */
interface PublicAnswer {
  readonly text: string;
  readonly headers: Readonly<Record<string, string | number>>;
}

type AnswerHeaders = Readonly<Record<string, string>>;

const JSON_HEADERS: AnswerHeaders = { 'content-type': 'application/json; charset=utf-8' };

/** What the answers of a route have beside the common headers, which their policy replaces. */
export function getAnswerHeaders({ page }: Pick<Route, 'page'>): AnswerHeaders {
  if (!page) return JSON_HEADERS;
  return page.type ? { ...PAGE_HEADERS, 'content-type': page.type } : PAGE_HEADERS;
}

/** Characters of all answers, and of one with its URL. */
const MAX_CHARACTERS = 16 * 1024 ** 2;
const MAX_ONE = 64 * 1024;

/**
 * Answers to reads without a credential, kept until anything in the database changes. Asking the database whether it
 * changed costs a tenth of the read, and is as exact.
 */
class PublicAnswers {
  readonly #database: Context['database'];
  readonly #vary: string;
  readonly #answers = new Map<string, PublicAnswer>();
  /** Of the answers. */
  #revision: number | undefined;
  /** Of the database in this turn of the event loop; null until it is asked. */
  #now: number | undefined | null = null;
  #characters = 0;

  constructor({ database, compatibility }: Pick<Context, 'database' | 'compatibility'>) {
    this.#database = database;
    this.#vary = ['Authorization', compatibility.apiKeyHeader ?? []].flat().join(', ');
  }

  /** @returns undefined if it has to be read */
  find(url: string): PublicAnswer | undefined {
    const answer = this.#answers.get(url);
    return answer && this.#readRevision() === this.#revision ? answer : undefined;
  }

  /** Creates an answer; call it before the read, so that what is kept is never newer than the read. */
  begin({ url }: FastifyRequest, type: AnswerHeaders): (text: string) => PublicAnswer {
    const revision = this.#readRevision();
    return (text) => {
      const hash = createHash('sha256').update(text).digest('base64url');
      const answer = {
        text,
        headers: {
          ...type,
          'content-length': Buffer.byteLength(text),
          etag: `"${hash.slice(0, 22)}"`,
          // Decided: caches may answer reads without a credential for half a minute.
          'cache-control': 'public, max-age=30',
          vary: this.#vary,
        },
      };
      if (revision !== this.#revision) this.#clear(revision);
      this.#keep(url, answer);
      return answer;
    };
  }

  /** Requests that arrived together ask once: none of them was sent after the answer to a write that came later. */
  #readRevision(): number | undefined {
    if (this.#now === null) {
      this.#now = readRevision(this.#database);
      setImmediate(() => {
        this.#now = null;
      });
    }
    return this.#now;
  }

  #clear(revision: number | undefined): void {
    this.#answers.clear();
    this.#characters = 0;
    this.#revision = revision;
  }

  #keep(url: string, answer: PublicAnswer): void {
    if (this.#revision === undefined) return;
    const size = url.length + answer.text.length;
    if (size > MAX_ONE || this.#answers.has(url)) return;
    this.#answers.set(url, answer);
    this.#characters += size;
    for (const [oldest, { text }] of this.#answers) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#answers.delete(oldest);
      this.#characters -= oldest.length + text.length;
    }
  }
}

/** Sends an answer, or 304 if the client has it. */
function sendPublicAnswer(
  { headers, text }: PublicAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const vary = reply.getHeader('vary');
  reply.headers(headers);
  if (vary !== undefined) reply.header('vary', `${vary}, ${headers.vary}`);
  if (!matchesEtag(request.headers['if-none-match'], headers.etag as string)) return reply.send(text);
  return reply.removeHeader('content-length').removeHeader('content-type').code(304).send();
}

/** Answers reads of anyone with what was sent before, until anything in the database changes. */
export function createPublicCache(
  context: Pick<Context, 'configuration' | 'database' | 'compatibility'>,
): Concern {
  const answers = new PublicAnswers(context);
  const isClosed = context.configuration.registry.read === 'authenticated';
  return {
    applies: ({ operation }) => isCacheable(operation) && (!isClosed || operation.opensSignIn === true),
    onRequest: (request, reply) => {
      const answer = request.caller.kind === 'none' ? answers.find(request.url) : undefined;
      return answer && sendPublicAnswer(answer, request, reply);
    },
    around: (call, next, exchange) => {
      const { request, reply } = exchange;
      if (call.caller.kind === 'none') {
        const keep = answers.begin(request, getAnswerHeaders(exchange.route));
        exchange.send = (text) => sendPublicAnswer(keep(text), request, reply);
      }
      return next(call);
    },
  };
}
