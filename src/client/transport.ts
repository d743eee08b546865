import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { MAX_TIMER_MS } from '../wire/backoff.js';
import { notifyOnStart } from '../wire/notify-on-start.js';
import { type ConnectionOptions, type Connections, openConnections } from './connections.js';
import { NetworkError } from './errors.js';
import { createTimeoutError, toNetworkError } from './network.js';

/** Header names in lower case; repeated headers are joined with `, `. */
export type Headers = Readonly<Record<string, string>>;

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** A function opens a stream, and calls `moved` with the size of each part that was taken from it. */
  readonly body?: string | Uint8Array | OpenBody | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the exchange may make no progress, or hardly any. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

type OpenBody = (moved: (bytes: number) => void) => Readable | Promise<Readable>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The URL that answered, after redirects. */
  readonly url: URL;
  /** To be read once, or discarded. Fails with NetworkError or the reason of the signal. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Releases the connection without returning the body. */
  discard(): Promise<void>;
}

export interface Transport {
  /** Sends one request, without redirects and retries. Fails with NetworkError or the reason of the signal. */
  exchange(exchange: Exchange): Promise<Answer>;
  /** Closes all connections immediately. */
  close(): Promise<void>;
}

/** Creates a transport over undici, which is loaded with the first request. */
export function createTransport(options: ConnectionOptions = {}): Transport {
  let loading: Promise<Connections> | undefined;
  let closed = false;

  return {
    async exchange(exchange) {
      if (closed) throw new NetworkError('failed', 'The client was closed.', false);
      loading ??= openConnections(options);
      const { request, getDispatcher, findProxy } = await loading;
      exchange.signal?.throwIfAborted();

      let sent: boolean | 'unknown' = false;
      const limit = new ProgressLimit(exchange);
      const toError = (error: unknown) => {
        if (exchange.signal?.aborted) return exchange.signal.reason;
        const { origin } = exchange.url;
        return limit.signal.aborted
          ? limit.error(origin, sent)
          : toNetworkError(error, origin, sent, findProxy(exchange.url, error));
      };
      const watchStart = notifyOnStart(() => {
        sent = 'unknown';
      });
      const dispatcher = await getDispatcher(exchange.url).catch((error) => {
        limit.end();
        throw toError(error);
      });
      const body = await openBody(exchange.body, limit);
      try {
        const answering = request(dispatcher.compose(watchStart), exchange.url, {
          method: exchange.method as Dispatcher.HttpMethod,
          headers: { ...exchange.headers, ...describeSize(exchange.body) },
          body: body ?? null,
          signal: limit.signal,
          headersTimeout: 0,
          bodyTimeout: 0,
        });
        // undici only notices an abort once the connection is established.
        const { statusCode, headers, body: stream } = await Promise.race([answering, limit.passed]);
        sent = true;
        limit.renew();
        limit.pause();
        return {
          status: statusCode,
          headers: joinHeaders(headers),
          url: exchange.url,
          body: readChunks(stream, toError, limit),
          discard: () => {
            limit.resume();
            return stream
              .dump()
              .catch(() => undefined)
              .finally(() => limit.end());
          },
        };
      } catch (error) {
        limit.end();
        if (body instanceof Readable) body.destroy();
        throw toError(error);
      }
    },
    async close() {
      closed = true;
      // If loading failed, the request that needed it has reported that.
      await (await loading?.catch(() => undefined))?.close();
    },
  };
}

/** Larger bodies are sent in parts, so that their progress is seen. */
const PART_BYTES = 64 * 1024;

async function openBody(
  body: Exchange['body'],
  limit: ProgressLimit,
): Promise<string | Uint8Array | Readable | undefined> {
  if (body === undefined || (typeof body !== 'function' && body.length <= PART_BYTES)) return body;
  const moved = (bytes: number) => limit.moved(bytes);
  try {
    return typeof body === 'function' ? await body(moved) : streamParts(Buffer.from(body), moved);
  } catch (error) {
    limit.end();
    throw error;
  }
}

function streamParts(bytes: Buffer, moved: (bytes: number) => void): Readable {
  const takeParts = function* () {
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      const part = bytes.subarray(at, at + PART_BYTES);
      yield part;
      moved(part.length);
    }
  };
  return Readable.from(takeParts(), { objectMode: false });
}

function describeSize(body: Exchange['body']): Headers {
  if (body === undefined || typeof body === 'function') return {};
  return { 'content-length': String(Buffer.byteLength(body)) };
}

async function* readChunks(body: Readable, toError: (error: unknown) => unknown, limit: ProgressLimit) {
  const reading: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Only errors of the connection are converted, not those of the reader of this body.
      limit.resume();
      const next = await reading.next().catch((error) => {
        throw toError(error);
      });
      if (next.done) return;
      limit.moved(next.value.byteLength);
      limit.pause();
      yield next.value;
    }
  } finally {
    limit.end();
    body.destroy();
  }
}

/** Decided: a connection that moves less than this on average counts as making no progress. */
const MIN_BYTES_PER_SECOND = 1024;
const MAX_TIMER_DELAY_MS = 1000;

/** Ends an exchange on the signal of the caller, or when it makes too little progress. */
class ProgressLimit {
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort();
  readonly #exchange: Exchange;
  readonly #windowMs: number | undefined;
  #leftMs = 0;
  #since = 0;
  #bytes = 0;
  #hasBegun = false;
  #timer: NodeJS.Timeout | undefined;
  readonly signal = this.#controller.signal;
  readonly passed: Promise<never>;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#windowMs = exchange.timeoutMs && Math.min(exchange.timeoutMs, MAX_TIMER_MS);
    this.passed = new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
    });
    // Without a handler an early abort would count as unhandled.
    this.passed.catch(() => undefined);
    exchange.signal?.addEventListener('abort', this.#abort, { once: true });
    this.renew();
  }

  /** Starts a new window in which progress must be made. */
  renew(): void {
    this.pause();
    this.#leftMs = this.#windowMs ?? 0;
    this.#bytes = 0;
    this.resume();
  }

  moved(bytes: number): void {
    this.#bytes += bytes;
    this.#hasBegun = true;
    if (this.#bytes * 1000 >= MIN_BYTES_PER_SECOND * (this.#windowMs ?? 0)) this.renew();
  }

  /** Stops the clock while this side is slow. */
  pause(): void {
    if (this.#timer) this.#leftMs -= performance.now() - this.#since;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    if (this.#windowMs === undefined || this.#timer) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#end(), Math.max(1, this.#leftMs));
  }

  #end(): void {
    // The process was stopped or busy: data that arrived since has not been read yet.
    const wasPaused = performance.now() - this.#since > this.#leftMs + MAX_TIMER_DELAY_MS;
    if (wasPaused) this.renew();
    else this.#abort();
  }

  error(origin: string, sent: boolean | 'unknown'): NetworkError {
    const moved = this.#hasBegun || sent === true ? this.#bytes : undefined;
    return createTimeoutError(origin, { ms: this.#windowMs ?? 0, moved }, sent);
  }

  end(): void {
    this.pause();
    this.#exchange.signal?.removeEventListener('abort', this.#abort);
  }
}

function joinHeaders(headers: Record<string, string | string[] | undefined>): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]);
  return Object.fromEntries(entries);
}
