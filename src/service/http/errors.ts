import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorBody, type ErrorCode, errorCodes } from '../../contract/errors.js';
import { challenge } from '../auth/protected-resource.js';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';
import { readAway } from './read-away.js';

// Decided: the body of every failure is { error, message, details? }, whatever failed.
function errorBody({ code, message, details }: Refused): ErrorBody {
  return { error: code, message, ...(details ? { details: [...details] } : {}) };
}

/** What the framework refuses by itself, in the service's own words. */
const frameworkRefusals: Record<string, [code: ErrorCode, message: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The body is larger than this operation accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body as JSON, with Content-Type: application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The body is not as long as Content-Length announced.',
  ],
  FST_ERR_BAD_URL: ['invalid_request', 'The path holds broken percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_request', 'A part of the path is too long.'],
};

/** What goes by, and is worth another try: the disk or the database is full or busy. */
const passing = ['SQLITE_BUSY', 'SQLITE_FULL', 'ENOSPC', 'EMFILE', 'ENFILE'];

/** Turns whatever was thrown into a refusal; what nobody foresaw is logged and becomes `internal`. */
function refusalOf(error: unknown, log: (error: unknown) => void): Refused {
  if (error instanceof Refused) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  const known = frameworkRefusals[code];
  if (known) return new Refused(...known);
  if (passing.includes(code)) {
    log(error);
    return new Refused('unavailable', 'The service is out of a resource for the moment; try again soon.');
  }
  // A statusCode of 4xx is the framework's word for a request that it could not read.
  if (statusCode >= 400 && statusCode < 500) {
    return new Refused('invalid_request', 'The request could not be read.');
  }
  log(error);
  return new Refused('internal', 'The service failed; the request id finds the reason in its logs.');
}

/** Seconds after which an answer of 429 or 503 asks to try again, where nobody knows better. */
const retryAfter = 1;

export async function answerError(
  context: Context,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refusal = refusalOf(error, (unforeseen) => {
    context.log('error', 'A request failed.', {
      requestId: request.id,
      route: `${request.method} ${request.routeOptions?.url ?? ''}`,
      error: unforeseen instanceof Error ? unforeseen.stack : String(unforeseen),
    });
  });
  const { status } = errorCodes[refusal.code];
  if (status === 401) reply.header('www-authenticate', challenge(context));
  if ((status === 429 || status === 503) && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', refusal.retryAfterSeconds ?? retryAfter);
  }
  const away = readAway(request.raw);
  // Fastify's own, where a body could not be parsed: it would close under a client that still sends.
  reply.removeHeader('connection');
  if (!reply.raw.shouldKeepAlive) await away;
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(refusal));
}

const refusedSockets = new WeakSet<Socket>();

/** Whether what came on a connection made no sense, so that it was answered and takes no other answer. */
export function wasRefused(socket: Socket): boolean {
  return refusedSockets.has(socket);
}

/** Answers what is not HTTP, or too much of it, on a socket where no request came to be. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  refusedSockets.add(socket);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Refused('too_large', 'The headers are larger than accepted here.')
      : new Refused('invalid_request', 'The request is not valid HTTP, or came too slowly.');
  socket.end(rawAnswer(refusal));
}

/** CONNECT would make a proxy of the service. */
export function refuseConnect(_request: unknown, socket: Socket): void {
  socket.on('error', () => {});
  socket.end(
    rawAnswer(new Refused('method_not_allowed', 'CONNECT is not a method of this service.'), 'Allow: GET'),
  );
}

function rawAnswer(refusal: Refused, ...headers: string[]): string {
  const { status } = errorCodes[refusal.code];
  const body = JSON.stringify(errorBody(refusal));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Request-Id: ${randomUUID()}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...headers,
    '',
    body,
  ].join('\r\n');
}
