import { errorCodes } from '../contract/error-codes.js';
import type { ErrorBody } from '../contract/errors.js';
import { isRecord, parseJson } from '../contract/json.js';
import { findJsonExcess, MAX_JSON_DEPTH } from '../wire/json-limits.js';
import { BodyTooLong, readBody } from '../wire/read-body.js';
import { parseRetryAfter } from '../wire/retry-after.js';
import { ResponseError, ServiceError } from './errors.js';
import type { Answer } from './transport.js';

const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** @throws ResponseError too_large */
async function readBytes(answer: Answer, maxBytes: number): Promise<Buffer> {
  try {
    return await readBody(answer.body, maxBytes);
  } catch (error) {
    if (!(error instanceof BodyTooLong)) throw error;
    const message = `${answer.url.origin} answered with more than the ${maxBytes} bytes accepted here.`;
    throw new ResponseError('too_large', message, answer.status);
  }
}

/**
 * Reads the JSON of a success.
 * @returns undefined if the status says that there is no body
 * @throws ResponseError if the body is not JSON, too large or nested too deep
 */
export async function readJson(answer: Answer, maxBytes: number, mayBeEmpty: boolean): Promise<unknown> {
  if (answer.status === 204 || answer.status === 205) {
    await answer.discard();
    return undefined;
  }
  const bytes = await readBytes(answer, maxBytes);
  const text = new TextDecoder().decode(bytes);
  const who = `${answer.url.origin} answered ${answer.status}`;
  if (text.trim() === '') {
    if (mayBeEmpty) return undefined;
    throw new ResponseError('empty', `${who} without a body where JSON was expected.`, answer.status);
  }
  if (findJsonExcess(bytes, { maxDepth: MAX_JSON_DEPTH }) === 'depth') {
    const message = `${who} with JSON nested more than ${MAX_JSON_DEPTH} deep.`;
    throw new ResponseError('too_deep', message, answer.status);
  }
  try {
    return JSON.parse(text);
  } catch {
    const what = isHtml(answer, text) ? 'an HTML page' : 'something else';
    const message = `${who} with ${what} instead of JSON. Is the address right, or is a proxy in between?`;
    throw new ResponseError('not_json', message, answer.status);
  }
}

/** Says what the sentence of a service means whose codes are not those of the contract. */
export type FindErrorCode = (status: number, text: string) => string | undefined;

/** Reads the error of an unsuccessful answer, with any body. */
export async function readServiceError(
  answer: Answer,
  now: number,
  findCode?: FindErrorCode,
): Promise<ServiceError> {
  // The body may break off or be too long; the status is known and is enough.
  const bytes = await readBody(answer.body, MAX_ERROR_BODY_BYTES).catch((error) =>
    error instanceof BodyTooLong ? error.beginning : Buffer.alloc(0),
  );
  return createServiceError(answer, now, new TextDecoder().decode(bytes), findCode);
}

/**
 * Creates an error from the status and headers of an answer.
 * @param body its body, if it was read
 */
export function createServiceError(
  answer: Answer,
  now: number,
  body = '',
  findCode?: FindErrorCode,
): ServiceError {
  const { status, headers, url } = answer;
  const { code: sent, message, details } = parseErrorBody(body);
  const isKnown = sent !== undefined && Object.hasOwn(errorCodes, sent);
  const code = (isKnown ? undefined : findCode?.(status, `${sent ?? ''} ${message ?? ''}`)) ?? sent;
  const excerpt = isHtml(answer, body) ? 'an HTML page' : (code ?? readPlainText(body));
  return new ServiceError({
    code: code ?? `http_${status}`,
    status,
    message: message ?? `${url.origin} answered ${status}${describeStatus(status, excerpt)}`,
    details,
    requestId: headers['x-request-id'],
    retryAfterMs: parseRetryAfter(headers['retry-after'], now),
  });
}

interface ErrorFacts {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly details: NonNullable<ErrorBody['details']>;
}

/**
 * Reads an error body. Other services than ours leave `message` empty or out, put the sentence into `error`,
 * list plain strings in `details`, or have fields of their own.
 */
function parseErrorBody(text: string): ErrorFacts {
  const body = parseJson(text);
  const fields: Readonly<Record<string, unknown>> = isRecord(body) ? body : {};
  const { error, message, details } = fields;
  const known = parseDetails(details);
  const notes = [details].flat().filter(isSentence).join('; ');
  const code = typeof error === 'string' && /^[\w.-]{1,100}$/.test(error) ? error : undefined;
  const sentence = [message, code === undefined && error].find(isSentence);
  const words =
    sentence && notes ? `${sentence.trimEnd().replace(/[.:]$/, '')}: ${notes}` : sentence || notes;
  const listed = known.map((detail) => `${detail.path} ${detail.message}`).join('; ');
  const others = () => findSentences({ ...fields, error: code === undefined && error }).join('; ');
  return { code, message: words || listed || others() || undefined, details: known };
}

/** Where services put a sentence: gateways, web frameworks, OAuth and RFC 9457. */
const SENTENCE_FIELDS = [
  'message',
  'detail',
  'error_description',
  'error',
  'errors',
  'msg',
  'reason',
  'title',
];

function findSentences(value: unknown, depth = 4): string[] {
  if (isSentence(value)) return [value.trim()];
  if (depth === 0) return [];
  if (Array.isArray(value)) return value.slice(0, 10).flatMap((item) => findSentences(item, depth - 1));
  const fields = isRecord(value) ? SENTENCE_FIELDS.map((name) => value[name]) : [];
  return fields.map((field) => findSentences(field, depth - 1)).find(({ length }) => length > 0) ?? [];
}

/** Nothing, unless all details are in the form of the contract. */
function parseDetails(details: unknown): ErrorFacts['details'] {
  const list: readonly Partial<ErrorFacts['details'][number]>[] = Array.isArray(details) ? details : [];
  const known = list.flatMap((detail) => {
    const { path, message } = detail ?? {};
    return typeof path === 'string' && typeof message === 'string' ? [{ path, message }] : [];
  });
  return known.length === list.length ? known : [];
}

function isSentence(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

const STATUS_MEANINGS: Readonly<Record<number, string>> = {
  304: 'not modified',
  400: 'the request was refused',
  401: 'a credential is required',
  403: 'this is not allowed',
  404: 'there is nothing at this address',
  407: 'the proxy requires a credential',
  413: 'the request is too large',
  429: 'too many requests',
  502: 'the service behind it failed',
  503: 'the service is not available',
  504: 'the service behind it took too long',
};

function describeStatus(status: number, excerpt: string): string {
  const meaning = STATUS_MEANINGS[status];
  return `${meaning ? `: ${meaning}` : ''}${excerpt && ` (${excerpt})`}.`;
}

/** The first words of a plain body; S3 and similar services give the reason in XML. */
function readPlainText(body: string): string {
  const xml = /<Message>([^<]*)<\/Message>/.exec(body)?.[1];
  const text = xml ?? (/^\s*[<[{]/.test(body) ? '' : body);
  const words = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return words.length > 200 ? `${words.slice(0, 200)}…` : words;
}

function isHtml(answer: Answer, body: string): boolean {
  return (
    /^text\/html\b/i.test(answer.headers['content-type'] ?? '') || /^\s*<(!doctype html|html)/i.test(body)
  );
}
