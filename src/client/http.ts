import { backoffMs } from '../wire/backoff.js';
import { createServiceError, type FindErrorCode, readServiceError } from './answer.js';
import type { ConnectionOptions } from './connections.js';
import { ClientError, InvalidRequestError, NetworkError, ResponseError, ServiceError } from './errors.js';
import { type Sleep, sleepOrAbort } from './sleep.js';
import { maskHeaders, maskUrl, type Trace } from './trace.js';
import { type Answer, createTransport, type Exchange, type Headers } from './transport.js';

export interface HttpOptions extends ConnectionOptions {
  /** The address of the service. The credential is only sent to its origin. */
  readonly baseUrl: URL;
  /** The bearer credential, or a function that returns it, called for each attempt. */
  readonly token?: TokenSource | undefined;
  /**
   * Called with a token that the service rejected, at most once per request.
   * @returns whether `token` now returns another one; if so, the request is sent again
   */
  readonly renewToken?: ((refused: string) => Promise<boolean>) | undefined;
  /** For example `regen-cli/1.0.0`. */
  readonly userAgent?: string;
  /** How often a request is repeated at most, if it may be repeated. Default 3. */
  readonly retries?: number;
  /** How long an attempt may make no progress, or hardly any. Default 60 s. */
  readonly timeoutMs?: number;
  /** How long the pauses of a request before its repeats may take together; at most, and by default, 2 minutes. */
  readonly maxPauseMs?: number;
  readonly findErrorCode?: FindErrorCode | undefined;
  readonly trace?: (event: Trace) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly sleep?: Sleep;
  /** From 0 to 1. */
  readonly random?: () => number;
}

type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Headers;
  /** A function opens a new stream for each attempt. */
  readonly body?: Exchange['body'];
  /** Whether to send the credential; it is only sent to the origin of the base address. */
  readonly credential: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly retries?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether the request only reads; a POST may, too. */
  readonly safe?: boolean | undefined;
  /** Return responses of any status, unless the request is repeated. */
  readonly anyStatus?: boolean;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_REDIRECTS = 5;
/** The headers of a caller that are also sent to another origin. */
const FOREIGN_HEADERS = ['accept', 'user-agent', 'range', 'if-range'];
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** Sends requests with credentials, redirects, retries and limits. One per service. */
export class Http {
  readonly #transport;
  readonly #options;
  #honoursKeys = false;
  readonly #now: () => number;
  readonly #random: () => number;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#transport = createTransport(options);
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  /**
   * Sends a request until it is answered, and passes the successful response to `use`. A connection that
   * breaks while `use` reads is retried, too.
   * @throws ClientError, or the reason of the signal
   */
  async send<Result>(
    request: HttpRequest,
    use: (answer: Answer) => Promise<Result> | Result,
  ): Promise<Result> {
    let mayRenew = true;
    let mayHaveArrived = false;
    let leftMs = Math.min(this.#options.maxPauseMs ?? MAX_PAUSE_MS, MAX_PAUSE_MS);
    for (let attempt = 1; ; attempt++) {
      try {
        const token = await this.#getToken(request);
        const answer = await this.#followRedirects(request, token);
        if (mayRenew && (await this.#hasNewToken(answer, token))) {
          mayRenew = false;
          await answer.discard();
          continue;
        }
        if (answer.status >= 200 && answer.status < 300) return await use(answer);
        if (!request.anyStatus) throw await this.#toError(answer);
        const refusal = createServiceError(answer, this.#now());
        if (this.#getPauseMs(refusal, request, attempt, leftMs) === undefined) return await use(answer);
        await answer.discard();
        throw refusal;
      } catch (error) {
        request.signal?.throwIfAborted();
        const pauseMs = this.#getPauseMs(error, request, attempt, leftMs);
        if (pauseMs === undefined) throw mayHaveArrived ? toUnknown(error) : error;
        leftMs -= pauseMs;
        mayHaveArrived ||= !isUnsent(error);
        this.#options.trace?.({ kind: 'retry', attempt, pauseMs, reason: error as ClientError });
        await sleepOrAbort(pauseMs, request.signal, this.#options.sleep);
      }
    }
  }

  /** @returns undefined if the request is not repeated, such as after a pause that is too long: the error says how long */
  #getPauseMs(error: unknown, request: HttpRequest, attempt: number, leftMs: number): number | undefined {
    if (!(error instanceof ClientError)) return undefined;
    if (attempt > (request.retries ?? this.#options.retries ?? 3)) return undefined;
    const keyHonoured = this.#honoursKeys && request.headers?.['idempotency-key'] !== undefined;
    const safe = request.safe === true || ['GET', 'HEAD'].includes(request.method);
    const idempotent = safe || keyHonoured || ['PUT', 'DELETE'].includes(request.method);
    if (!mayRepeat(idempotent, error)) return undefined;
    const pauseMs = computePauseMs(attempt, error, this.#random);
    return pauseMs <= leftMs ? pauseMs : undefined;
  }

  async #toError(answer: Answer): Promise<ServiceError | ResponseError> {
    if (!REDIRECT_STATUSES.includes(answer.status))
      return readServiceError(answer, this.#now(), this.#options.findErrorCode);
    await answer.discard();
    const to = parseLocation(answer);
    const where = to ? `to ${to.origin}, but only reads are redirected` : 'without saying where';
    const message = `${answer.url.origin} redirects this request ${where}. Is the address right?`;
    return new ResponseError('redirect', message, answer.status);
  }

  /** Only reads follow redirects, without the credential once a redirect leaves the origin. */
  async #followRedirects(request: HttpRequest, token: string | undefined): Promise<Answer> {
    let url = request.url;
    let trusted = true;
    for (let hops = 0; ; hops++) {
      const headers = this.#createHeaders(request, url, trusted, token);
      const answer = await this.#exchange(request, url, headers);
      const reads = request.method === 'GET' || request.method === 'HEAD';
      const to = reads && REDIRECT_STATUSES.includes(answer.status) ? parseLocation(answer) : undefined;
      if (!to) return answer;
      await answer.discard();
      const refuse = (why: string) => {
        const message = `${url.origin} redirects ${why}, which is not followed.`;
        return new ResponseError('redirect', message, answer.status);
      };
      if (hops === MAX_REDIRECTS) throw refuse(`more than ${MAX_REDIRECTS} times`);
      if (to.protocol !== 'https:' && to.protocol !== 'http:') throw refuse(`to a ${to.protocol} address`);
      if (url.protocol === 'https:' && to.protocol === 'http:') throw refuse('from https to http');
      this.#options.trace?.({ kind: 'redirect', url: maskUrl(to) });
      // Permanently: another service must not choose which requests are sent with the credential.
      trusted &&= to.origin === url.origin;
      url = to;
    }
  }

  async #exchange(request: HttpRequest, url: URL, headers: Headers): Promise<Answer> {
    const { method, body, signal } = request;
    this.#options.trace?.({ kind: 'request', method, url: maskUrl(url), headers: maskHeaders(headers) });
    const began = performance.now();
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const answer = await this.#transport.exchange({ method, url, headers, body, signal, timeoutMs });
    const ms = Math.round(performance.now() - began);
    const shown = maskHeaders(answer.headers);
    this.#options.trace?.({ kind: 'response', status: answer.status, headers: shown, ms });
    const key = headers['idempotency-key'];
    const ours = url.origin === this.#options.baseUrl.origin;
    if (key !== undefined && ours && answer.headers['idempotency-key'] === key) this.#honoursKeys = true;
    return answer;
  }

  async #getToken({ credential, headers }: HttpRequest): Promise<string | undefined> {
    if (!credential || headers?.authorization !== undefined) return undefined;
    const { token } = this.#options;
    const given = typeof token === 'function' ? await token() : token;
    return given === undefined ? undefined : requireSendable(given);
  }

  #createHeaders(
    request: HttpRequest,
    url: URL,
    trusted: boolean,
    token: string | undefined,
  ): Record<string, string> {
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent ?? 'regen-cli',
      ...request.headers,
    };
    if (!trusted) {
      return Object.fromEntries(Object.entries(headers).filter(([name]) => FOREIGN_HEADERS.includes(name)));
    }
    const ours = url.origin === this.#options.baseUrl.origin;
    return token !== undefined && ours ? { ...headers, authorization: `Bearer ${token}` } : headers;
  }

  /** Whether there is another token, after the service rejected one. */
  async #hasNewToken({ status, url }: Answer, token: string | undefined): Promise<boolean> {
    if (status !== 401 || token === undefined || url.origin !== this.#options.baseUrl.origin) return false;
    return (await this.#options.renewToken?.(token)) === true;
  }
}

/** Whether a request that failed was certainly not carried out. */
function isUnsent(error: unknown): boolean {
  if (error instanceof NetworkError) return error.sent === false;
  return error instanceof ServiceError && error.status < 500;
}

/** An attempt that did not reach the service says nothing of those before it. */
function toUnknown(error: unknown): unknown {
  if (!(error instanceof NetworkError) || error.sent !== false) return error;
  const { code, message, cause, proxy } = error;
  return new NetworkError(code, message, 'unknown', { cause, proxy });
}

function requireSendable(credential: string): string {
  if (/^[\x21-\x7e]+$/.test(credential)) return credential;
  const message = 'must be one word of printable characters; check that it was copied correctly';
  throw new InvalidRequestError([{ path: ['token'], message }]);
}

function parseLocation(answer: Answer): URL | undefined {
  const { location } = answer.headers;
  return location !== undefined && URL.canParse(location, answer.url.href)
    ? new URL(location, answer.url)
    : undefined;
}

const BUSY_STATUSES = [429, 503];
const TRANSIENT_STATUSES = [429, 502, 503, 504];

/**
 * Whether a failed request may be repeated.
 * Decided: reads, PUT, DELETE and, where the service has shown that it honours keys, POST are repeated on
 * connection failures, 429 and 502 to 504; other POSTs only if nothing was sent, on 429 or 503. A timeout is
 * never repeated: a silent service costs one timeout, not several.
 * @param idempotent carrying the request out twice has the effect of once
 */
export function mayRepeat(idempotent: boolean, error: ClientError): boolean {
  if (error instanceof ServiceError) {
    // The first request with the same key is still running.
    if (error.code === 'idempotency_in_flight') return true;
    return (idempotent ? TRANSIENT_STATUSES : BUSY_STATUSES).includes(error.status);
  }
  if (!(error instanceof NetworkError)) return false;
  // Repeating does not help with a refused address, an untrusted certificate, a refusing proxy or a request that cannot be
  // written.
  if (['address', 'timeout', 'tls', 'proxy', 'failed'].includes(error.code)) return false;
  return idempotent || error.sent === false;
}

const MAX_PAUSE_MS = 120_000;
const MAX_BACKOFF_MS = 10_000;

/**
 * Computes the pause before the next attempt: what the service asked for, or 250 ms doubled with each attempt
 * and with jitter.
 * @param attempt how many attempts failed, from 1
 * @returns milliseconds
 */
function computePauseMs(attempt: number, error: ClientError, random: () => number): number {
  const asked = error instanceof ServiceError ? error.retryAfterMs : undefined;
  return asked ?? backoffMs(attempt, { firstMs: 250, maxMs: MAX_BACKOFF_MS, random });
}
