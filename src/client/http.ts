import { setTimeout as pause } from 'node:timers/promises';
import { failureOf, refusalByStatus } from './answer.js';
import { ClientError, InvalidRequestError, ResponseError, type ServiceError } from './errors.js';
import { mayRepeat, pauseBefore } from './retry.js';
import { maskedHeaders, maskedUrl, type Trace } from './trace.js';
import {
  type Answer,
  createTransport,
  type Exchange,
  type Headers,
  type TransportOptions,
} from './transport.js';

export interface HttpOptions extends TransportOptions {
  /** The service's address; the credential goes to its origin and nowhere else. */
  readonly baseUrl: URL;
  /** The bearer credential, or where to get it; asked for with each attempt. */
  readonly token?: Token | undefined;
  /**
   * Told that the service refused a token as no valid one; whether `token` gives another now. Asked once a request,
   * which is then sent again.
   */
  readonly renewToken?: ((refused: string) => Promise<boolean>) | undefined;
  /** Such as `regen-cli/1.0.0`. */
  readonly userAgent?: string;
  /** How often a request is repeated at most, where it may be repeated. Default 3. */
  readonly retries?: number;
  /** One attempt, its answer included. Default a minute, and a second for each 128 KiB of body. */
  readonly timeoutMs?: number;
  /** All attempts and the pauses between them. Default 5 times the time of one, and a minute. */
  readonly totalTimeoutMs?: number;
  readonly trace?: (event: Trace) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random?: () => number;
}

type Token = string | (() => string | undefined | Promise<string | undefined>);

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Headers;
  /** A function makes a fresh stream for each attempt. */
  readonly body?: Exchange['body'];
  /** Whether the credential is wanted; it goes to the base's origin only. */
  readonly credential: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly retries?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly totalTimeoutMs?: number | undefined;
  /** For what is streamed, instead of `timeoutMs`: how long nothing may move. */
  readonly idleMs?: number | undefined;
  /** Hand over answers of any status, once they need not be repeated. */
  readonly anyStatus?: boolean;
}

const mostRedirects = 5;
/** What a foreign origin may see of the headers that a caller gave. */
const harmless = ['accept', 'user-agent', 'range', 'if-range'];
const redirects = [301, 302, 303, 307, 308];

/** Requests with credential, redirects, repeats and limits. One for each service. */
export class Http {
  private readonly transport;
  private readonly options;
  private honoursKeys = false;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;

  constructor(options: HttpOptions) {
    this.options = options;
    this.transport = createTransport(options);
    this.now = options.now ?? Date.now;
    this.sleep = options.sleep ?? ((ms, signal) => pause(ms, undefined, { ...(signal ? { signal } : {}) }));
    this.random = options.random ?? Math.random;
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  /**
   * Sends a request until it is answered, and hands the success to `use`. What breaks while `use` reads is repeated
   * as well. Fails with one of the error family, or with the signal's reason.
   */
  async send<Result>(
    request: HttpRequest,
    use: (answer: Answer) => Promise<Result> | Result,
  ): Promise<Result> {
    const timeoutMs = this.timeoutMs(request);
    const total = request.totalTimeoutMs ?? this.options.totalTimeoutMs ?? 5 * timeoutMs + 60_000;
    const ends = request.idleMs === undefined ? this.now() + total : Number.POSITIVE_INFINITY;
    let mayRenew = true;
    for (let attempt = 1; ; attempt++) {
      try {
        const token = await this.tokenFor(request);
        const limit = Math.min(timeoutMs, Math.max(1, ends - this.now()));
        const answer = await this.follow(request, token, limit);
        if (mayRenew && (await this.renewed(answer, token))) {
          mayRenew = false;
          await answer.discard();
          continue;
        }
        if (answer.status >= 200 && answer.status < 300) return await use(answer);
        if (!request.anyStatus) throw await this.refusal(answer);
        const refusal = refusalByStatus(answer, this.now());
        if (this.pauseAfter(refusal, request, attempt, ends) === undefined) return await use(answer);
        await answer.discard();
        throw refusal;
      } catch (error) {
        request.signal?.throwIfAborted();
        const pauseMs = this.pauseAfter(error, request, attempt, ends);
        if (pauseMs === undefined) throw error;
        this.options.trace?.({ kind: 'retry', attempt, pauseMs, reason: error as ClientError });
        await this.sleepOrAbort(pauseMs, request.signal);
      }
    }
  }

  private timeoutMs({ timeoutMs, idleMs, body }: HttpRequest): number {
    if (idleMs !== undefined) return Number.POSITIVE_INFINITY;
    return timeoutMs ?? this.options.timeoutMs ?? defaultTimeoutMs(body);
  }

  private pauseAfter(error: unknown, request: HttpRequest, attempt: number, ends: number) {
    if (!(error instanceof ClientError)) return undefined;
    if (attempt > (request.retries ?? this.options.retries ?? 3)) return undefined;
    const keyHonoured = this.honoursKeys && request.headers?.['idempotency-key'] !== undefined;
    if (!mayRepeat({ method: request.method, keyHonoured }, error)) return undefined;
    const pauseMs = pauseBefore(attempt, error, this.random);
    return pauseMs !== undefined && this.now() + pauseMs < ends ? pauseMs : undefined;
  }

  private async sleepOrAbort(ms: number, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.sleep(ms, signal);
    } finally {
      // The caller's own reason, not the sleep's word for it.
      signal?.throwIfAborted();
    }
  }

  private async refusal(answer: Answer): Promise<ServiceError | ResponseError> {
    if (!redirects.includes(answer.status)) return failureOf(answer, this.now());
    await answer.discard();
    const to = target(answer);
    const where = to ? `to ${to.origin}` : 'without saying where';
    const message = `${answer.url.origin} redirects this request ${where}, and only reads are redirected. Is the service's address right?`;
    return new ResponseError('redirect', message, answer.status);
  }

  /** Only reads follow redirects, and the credential stays behind when one leaves the origin. */
  private async follow(request: HttpRequest, token: string | undefined, timeoutMs: number): Promise<Answer> {
    const ends = performance.now() + timeoutMs;
    let url = request.url;
    let trusted = true;
    for (let hops = 0; ; hops++) {
      const headers = this.headersFor(request, url, trusted, token);
      const answer = await this.attempt(request, url, headers, ends - performance.now());
      const reads = request.method === 'GET' || request.method === 'HEAD';
      const to = reads && redirects.includes(answer.status) ? target(answer) : undefined;
      if (!to) return answer;
      await answer.discard();
      const refuse = (why: string) => {
        const message = `${url.origin} redirects ${why}, which is not followed.`;
        return new ResponseError('redirect', message, answer.status);
      };
      if (hops === mostRedirects) throw refuse(`more than ${mostRedirects} times`);
      if (to.protocol !== 'https:' && to.protocol !== 'http:') throw refuse(`to a ${to.protocol} address`);
      if (url.protocol === 'https:' && to.protocol === 'http:') throw refuse('from https to http');
      this.options.trace?.({ kind: 'redirect', url: maskedUrl(to) });
      // For good: a foreign service must not choose what is asked with the credential after it.
      trusted &&= to.origin === url.origin;
      url = to;
    }
  }

  private async attempt(request: HttpRequest, url: URL, headers: Headers, timeoutMs: number) {
    const { method, body, signal, idleMs } = request;
    this.options.trace?.({ kind: 'request', method, url: maskedUrl(url), headers: maskedHeaders(headers) });
    const began = performance.now();
    const limit = Number.isFinite(timeoutMs) ? Math.max(1, timeoutMs) : undefined;
    const answer = await this.transport.exchange({
      method,
      url,
      headers,
      body,
      signal,
      idleMs,
      timeoutMs: limit,
    });
    const ms = Math.round(performance.now() - began);
    const shown = maskedHeaders(answer.headers);
    this.options.trace?.({ kind: 'response', status: answer.status, headers: shown, ms });
    const key = headers['idempotency-key'];
    const ours = url.origin === this.options.baseUrl.origin;
    if (key !== undefined && ours && answer.headers['idempotency-key'] === key) this.honoursKeys = true;
    return answer;
  }

  private async tokenFor({ credential, headers }: HttpRequest): Promise<string | undefined> {
    if (!credential || headers?.authorization !== undefined) return undefined;
    const { token } = this.options;
    const given = typeof token === 'function' ? await token() : token;
    return given === undefined ? undefined : sendable(given);
  }

  private headersFor(
    request: HttpRequest,
    url: URL,
    trusted: boolean,
    token: string | undefined,
  ): Record<string, string> {
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': this.options.userAgent ?? 'regen-cli',
      ...request.headers,
    };
    if (!trusted) {
      return Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.includes(name)));
    }
    const ours = url.origin === this.options.baseUrl.origin;
    return token !== undefined && ours ? { ...headers, authorization: `Bearer ${token}` } : headers;
  }

  /** Whether there is another token, after one that the service itself said is no valid one. */
  private async renewed({ status, url }: Answer, token: string | undefined): Promise<boolean> {
    if (status !== 401 || token === undefined || url.origin !== this.options.baseUrl.origin) return false;
    return (await this.options.renewToken?.(token)) === true;
  }
}

function sendable(credential: string): string {
  if (/^[\x21-\x7e]+$/.test(credential)) return credential;
  const message = 'must be one word of printable characters; was it copied whole, and nothing else with it?';
  throw new InvalidRequestError([{ path: ['token'], message }]);
}

function target(answer: Answer): URL | undefined {
  const { location } = answer.headers;
  return location !== undefined && URL.canParse(location, answer.url.href)
    ? new URL(location, answer.url)
    : undefined;
}

function defaultTimeoutMs(body: HttpRequest['body']): number {
  const bytes = typeof body === 'function' ? 0 : Buffer.byteLength(body ?? '');
  return 60_000 + (bytes / (128 * 1024)) * 1000;
}
