import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, errorCodes } from '../../contract/error-codes.js';
import type { ErrorBody } from '../../contract/errors.js';
import { hasCode } from '../../contract/has-code.js';
import { type Names, render, say } from '../../contract/schema/message.js';
import { isMachineTrouble } from '../../disk/machine-trouble.js';
import { PackageMissing } from '../../preview/packages.js';
import { formatChallenge } from '../auth/protected-resource.js';
import { isDatabaseAway } from '../database/postgres.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { PAGE_HEADERS } from '../pages/page-list.js';

// Decided: the body of every failure is { error, message, details? }.
function toErrorBody({ code, text, details }: Refused, names: Names = {}): ErrorBody {
  const listed = details?.map(({ path, message }) => ({
    path: render(say`${{ field: path }}`, names),
    message: render(message, names),
  }));
  return { error: code, message: render(text, names), ...(listed && { details: listed }) };
}

/** The framework's own refusals, in the service's wording. */
const FRAMEWORK_REFUSALS: Record<string, [code: ErrorCode, message: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The body is larger than this operation accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body as JSON with Content-Type: application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body does not match its Content-Length.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path contains invalid percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_request', 'A segment of the path is too long.'],
};

/** Says what keeps the service from answering anybody; undefined for other errors. */
function describeTrouble(error: unknown): string | undefined {
  if (hasCode(error, 'store_lost', 'storage_missing'))
    return 'The service has lost its data folder; its operator must restart it.';
  if (hasCode(error, 'data_upgraded'))
    return 'A newer release has upgraded the data; it must replace this service.';
  if (hasCode(error, 'storage_away')) return 'The storage of the service cannot be reached; try again later.';
  if (isDatabaseAway(error)) return 'The database is away or has too much to do; try again soon.';
  if (isMachineTrouble(error)) return 'The service is temporarily out of a resource; try again soon.';
  return undefined;
}

/** Turns any error into a refusal. Unexpected errors are logged and become `internal`. */
function toRefused(error: unknown, log: (error: unknown) => void): Refused {
  if (error instanceof Refused) return error;
  if (error instanceof PackageMissing) return new Refused('not_supported', error.message);
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  const known = FRAMEWORK_REFUSALS[code];
  if (known) return new Refused(...known);
  const trouble = describeTrouble(error);
  // The framework sets a statusCode of 4xx on requests that it could not read.
  if (trouble === undefined && statusCode >= 400 && statusCode < 500)
    return new Refused('invalid_request', 'The request could not be read.');
  log(error);
  if (trouble !== undefined) return new Refused('unavailable', trouble);
  return hasCode(error, 'object_missing')
    ? new Refused('not_found', 'The file is missing in the storage of the service.')
    : new Refused('internal', 'Internal error; the service log has the details under the request id.');
}

const RETRY_AFTER_SECONDS = 1;

export async function sendError(
  context: Pick<Context, 'configuration' | 'baseUrl' | 'log'>,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refusal = toRefused(error, (unforeseen) => {
    context.log('error', 'A request failed.', {
      requestId: request.id,
      route: `${request.method} ${request.routeOptions?.url ?? ''}`,
      error: unforeseen instanceof Error ? unforeseen.stack : String(unforeseen),
    });
  });
  const { status } = errorCodes[refusal.code];
  if (status === 401) reply.header('www-authenticate', formatChallenge(context));
  if ((status === 429 || status === 503) && !reply.hasHeader('retry-after'))
    reply.header('retry-after', refusal.retryAfterSeconds ?? RETRY_AFTER_SECONDS);
  const drained = drainBody(request.raw);
  // Fastify sets it if it cannot parse a body, which disconnects a client that is still sending.
  reply.removeHeader('connection');
  // A client that does not wait has to connect again for each request.
  if (status === 429) reply.header('connection', 'close');
  if (status === 429 || !reply.raw.shouldKeepAlive) await drained;
  if (request.routeOptions.config?.isPage || request.url.startsWith('/web/')) {
    const { drawError } = await import('../pages/error-page.js');
    const { text } = drawError(status, render(refusal.text, {}));
    return reply.code(status).headers(PAGE_HEADERS).send(text);
  }
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(toErrorBody(refusal, request.names?.chooseNames(request)));
}

/** The machine may be at fault: the request is not invalid for it. */
export const SLOW_REQUEST = 'ERR_HTTP_REQUEST_TIMEOUT';

const refusedSockets = new WeakSet<Socket>();

/** Whether a connection sent invalid HTTP and got an error, so that no other answer can follow. */
export function wasRefused(socket: Socket): boolean {
  return refusedSockets.has(socket);
}

/** Answers invalid HTTP and oversized headers on a socket, for which there is no request object. */
export function sendClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  refusedSockets.add(socket);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Refused('too_large', 'The headers are too large.')
      : error.code === SLOW_REQUEST
        ? new Refused('unavailable', 'The request arrived too slowly; send it again.')
        : new Refused('invalid_request', 'The request is not valid HTTP.');
  socket.end(formatRawAnswer(refusal));
}

/** CONNECT would turn the service into a proxy. */
export function refuseConnect(_request: unknown, socket: Socket): void {
  socket.on('error', () => {});
  socket.end(formatRawAnswer(new Refused('method_not_allowed', 'CONNECT is not accepted.'), 'Allow: GET'));
}

function formatRawAnswer(refusal: Refused, ...headers: string[]): string {
  const { status } = errorCodes[refusal.code];
  const body = JSON.stringify(toErrorBody(refusal));
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

/** Limits on how much of a refused body is read before the connection is closed. */
const MAX_DRAINED_BYTES = 512 * 1024 ** 2;
const MAX_DRAIN_MS = 60_000;

/**
 * Reads and discards the rest of a refused body. Closing the connection earlier resets it, and a client that
 * sends everything before it reads would never see the answer.
 * @returns once the body has ended or the connection is closed
 */
function drainBody(body: IncomingMessage): Promise<void> {
  if (body.complete || body.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const end = setTimeout(() => body.socket.destroy(), MAX_DRAIN_MS);
    let left = MAX_DRAINED_BYTES;
    body.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) body.socket.destroy();
    });
    const done = () => {
      clearTimeout(end);
      resolve();
    };
    body.on('error', done).once('end', done).once('close', done);
    body.resume();
  });
}
