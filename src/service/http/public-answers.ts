import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readRevision } from '../database/sqlite.js';
import type { Context } from '../operation/context.js';
import { getRequestFacts } from './access-log.js';
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
  readonly route: string | undefined;
  readonly headers: Readonly<Record<string, string | number>>;
}

/** Characters of all answers, and of one with its URL. */
const MAX_CHARACTERS = 16 * 1024 ** 2;
const MAX_ONE = 64 * 1024;

/**
 * Answers to reads without a credential, kept until anything in the database changes. Asking the database whether it
 * changed costs a tenth of the read, and is as exact.
 */
export class PublicAnswers {
  readonly #database: Context['database'];
  readonly #vary: string;
  readonly #answers = new Map<string, PublicAnswer>();
  #revision: number | undefined;
  #characters = 0;

  constructor({ database, naming }: Pick<Context, 'database' | 'naming'>) {
    this.#database = database;
    this.#vary = ['Authorization', naming?.behaviors.apiKeyHeader ?? []].flat().join(', ');
  }

  /** @returns undefined if it has to be read */
  find(url: string): PublicAnswer | undefined {
    const answer = this.#answers.get(url);
    return answer && readRevision(this.#database) === this.#revision ? answer : undefined;
  }

  /** Creates an answer; call it before the read, so that what is kept is never newer than the read. */
  begin({ url, routeOptions: { url: route } }: FastifyRequest): (text: string) => PublicAnswer {
    const revision = readRevision(this.#database);
    return (text) => {
      const hash = createHash('sha256').update(text).digest('base64url');
      const answer = {
        text,
        route,
        headers: {
          'content-type': 'application/json; charset=utf-8',
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
export function sendPublicAnswer(
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

/**
 * Sends kept answers before the framework sees the request, whose routing and hooks take longer than all the rest.
 * Any request that is not the plainest of its kind goes on to the framework.
 * @param isAdmitted whether everything that comes before an answer lets a request pass
 */
export function replayPublicAnswers(
  server: Server,
  answers: PublicAnswers,
  isAdmitted: (request: IncomingMessage) => boolean,
): void {
  const others = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const answer = isPlain(request) ? answers.find(request.url as string) : undefined;
    if (!answer || !isAdmitted(request)) {
      for (const listener of others) listener(request, response);
      return;
    }
    const facts = getRequestFacts(request);
    if (answer.route !== undefined) facts.route = answer.route;
    const headers = { 'x-request-id': facts.id, ...COMMON_HEADERS, ...answer.headers };
    if (matchesEtag(request.headers['if-none-match'], answer.headers.etag as string)) {
      const { 'content-type': _, 'content-length': __, ...rest } = headers as Record<string, string>;
      response.writeHead(304, rest).end();
    } else response.writeHead(200, headers).end(answer.text);
  });
}

function isPlain({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.authorization === undefined &&
    headers.origin === undefined &&
    headers.expect === undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}
