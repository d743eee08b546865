import { ErrorBody } from '../contract/errors.js';
import { ResponseError, ServiceError } from './errors.js';
import { retryAfterMs } from './retry.js';
import type { Answer } from './transport.js';

const errorBodyBytes = 64 * 1024;

/** Reads a whole body, at most `limit` bytes of it; more is an error where `cut` is false. */
async function readAll(answer: Answer, limit: number, cut = false): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body) {
    size += part.byteLength;
    parts.push(part);
    if (size <= limit) continue;
    if (cut) break;
    const message = `${answer.url.origin} answered with more than ${limit} bytes, which is more than is accepted here.`;
    throw new ResponseError('too_large', message, answer.status);
  }
  return Buffer.concat(parts).subarray(0, limit);
}

/** The JSON of a success; `undefined` where the status says that there is none. */
export async function readJson(answer: Answer, limit: number, mayBeEmpty: boolean): Promise<unknown> {
  if (answer.status === 204 || answer.status === 205) {
    await answer.discard();
    return undefined;
  }
  const text = new TextDecoder().decode(await readAll(answer, limit));
  const who = `${answer.url.origin} answered ${answer.status}`;
  if (text.trim() === '') {
    if (mayBeEmpty) return undefined;
    throw new ResponseError('empty', `${who} without a body where JSON was expected.`, answer.status);
  }
  try {
    return JSON.parse(text);
  } catch {
    const what = isHtml(answer, text) ? 'an HTML page' : 'something else';
    const message = `${who} with ${what} instead of JSON. Is the service's address right, or does a proxy stand between?`;
    throw new ResponseError('not_json', message, answer.status);
  }
}

/** The error behind an answer that is no success, whatever its body holds. */
export async function failureOf(answer: Answer, now: number): Promise<ServiceError> {
  // What was begun may break off; the status is known already and says enough.
  const bytes = await readAll(answer, errorBodyBytes, true).catch(() => Buffer.alloc(0));
  const text = new TextDecoder().decode(bytes);
  const body = errorBody(text);
  return refusal(answer, now, text, body);
}

/** The same without reading the body. */
export function refusalByStatus(answer: Answer, now: number): ServiceError {
  return refusal(answer, now, '');
}

function refusal(answer: Answer, now: number, text: string, body?: ErrorBody): ServiceError {
  const { status, headers, url } = answer;
  return new ServiceError({
    code: body?.error ?? `http_${status}`,
    status,
    message: body?.message ?? `${url.origin} answered ${status}${inWords(answer, text)}`,
    ...(body?.details ? { details: body.details } : {}),
    requestId: headers['x-request-id'],
    retryAfterMs: retryAfterMs(headers['retry-after'], now),
  });
}

function errorBody(text: string): ErrorBody | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const whole = ErrorBody.safeParse(value);
    if (whole.success) return whole.data;
    // Details in another form must not cost the sentence.
    return ErrorBody.omit({ details: true }).safeParse(value).data;
  } catch {
    return undefined;
  }
}

const meanings: Record<number, string> = {
  400: 'the request was refused',
  401: 'a credential is needed',
  403: 'this is not allowed',
  404: 'there is nothing at this address',
  407: 'the proxy wants a credential',
  413: 'the request is too large',
  429: 'too many requests',
  502: 'the service behind it failed',
  503: 'the service is not available',
  504: 'the service behind it took too long',
};

function inWords(answer: Answer, text: string): string {
  const meaning = meanings[answer.status];
  const said = isHtml(answer, text) ? ' (an HTML page)' : quoted(text);
  return `${meaning ? `: ${meaning}` : ''}${said}.`;
}

/** The first words of a plain body; S3 and its kin say why in XML. */
function quoted(text: string): string {
  const xml = /<Message>([^<]*)<\/Message>/.exec(text)?.[1];
  const words = (xml ?? (/^\s*[<[{]/.test(text) ? '' : text)).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  if (words === '') return '';
  return ` (${words.length > 200 ? `${words.slice(0, 200)}…` : words})`;
}

function isHtml(answer: Answer, text: string): boolean {
  return (
    /^text\/html\b/i.test(answer.headers['content-type'] ?? '') || /^\s*<(!doctype html|html)/i.test(text)
  );
}
