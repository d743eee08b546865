import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { isLoopbackHost } from '../contract/schema/loopback.js';
import { InvalidRequestError, NetworkError } from './errors.js';
import { createStallError, createTimeoutError, toNetworkError } from './network.js';

export interface TransportOptions {
  /** Environment with `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in either case. Default: no proxy. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Certificates in PEM form to trust besides the built-in ones and `NODE_EXTRA_CA_CERTS`. */
  readonly ca?: string;
}

/** Header names in lower case; repeated headers are joined with `, `. */
export type Headers = Readonly<Record<string, string>>;

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** A function opens a stream, and calls `moved` for each part that is taken from it. */
  readonly body?: string | Uint8Array | ((moved: () => void) => Readable | Promise<Readable>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the whole exchange, including the body of the response. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Instead of `timeoutMs`: how long the other side may be idle. */
  readonly idleMs?: number | undefined;
}

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
export function createTransport(options: TransportOptions = {}): Transport {
  let loading: Promise<Connections> | undefined;
  let closed = false;

  return {
    async exchange(exchange) {
      if (closed) throw new NetworkError('failed', 'The client was closed.', false);
      loading ??= openConnections(options);
      const { request, getDispatcher, findProxy } = await loading;
      exchange.signal?.throwIfAborted();

      let sent: boolean | 'unknown' = false;
      const limit = new ExchangeLimit(exchange);
      const toError = (error: unknown) => {
        if (exchange.signal?.aborted) return exchange.signal.reason;
        const { origin } = exchange.url;
        return limit.signal.aborted
          ? limit.error(origin, sent)
          : toNetworkError(error, origin, sent, findProxy(exchange.url, error));
      };
      const dispatcher = getDispatcher(exchange.url).compose(
        notifyOnStart(() => {
          sent = 'unknown';
        }),
      );
      const body = await openBody(exchange.body, limit);
      limit.moved();
      try {
        const answering = request(exchange.url, {
          method: exchange.method as Dispatcher.HttpMethod,
          headers: exchange.headers,
          body: body ?? null,
          dispatcher,
          signal: limit.signal,
          headersTimeout: 0,
          bodyTimeout: 0,
        });
        // undici only notices an abort once the connection is established.
        const { statusCode, headers, body: stream } = await Promise.race([answering, limit.passed]);
        sent = true;
        limit.rest();
        return {
          status: statusCode,
          headers: joinHeaders(headers),
          url: exchange.url,
          body: readChunks(stream, toError, limit),
          discard: () => {
            limit.moved();
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

async function openBody(
  body: Exchange['body'],
  limit: ExchangeLimit,
): Promise<string | Uint8Array | Readable | undefined> {
  if (typeof body !== 'function') return body;
  try {
    return await body(() => limit.moved());
  } catch (error) {
    limit.end();
    throw error;
  }
}

async function* readChunks(body: Readable, toError: (error: unknown) => unknown, limit: ExchangeLimit) {
  const reading: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Only errors of the connection are converted, not those of the reader of this body.
      limit.moved();
      const next = await reading.next().catch((error) => {
        throw toError(error);
      });
      limit.rest();
      if (next.done) return;
      yield next.value;
    }
  } finally {
    limit.end();
    body.destroy();
  }
}

/** Longer timers fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Ends an exchange on the signal of the caller, after a timeout, or when idle for too long. */
class ExchangeLimit {
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort();
  readonly #exchange: Exchange;
  #timer: NodeJS.Timeout | undefined;
  readonly signal = this.#controller.signal;
  readonly passed: Promise<never>;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.passed = new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
    });
    // Without a handler an early abort would count as unhandled.
    this.passed.catch(() => undefined);
    exchange.signal?.addEventListener('abort', this.#abort, { once: true });
    this.#start(exchange.idleMs ?? exchange.timeoutMs);
  }

  #start(ms: number | undefined): void {
    if (ms !== undefined) this.#timer = setTimeout(this.#abort, Math.min(ms, MAX_TIMER_MS));
  }

  moved(): void {
    if (this.#exchange.idleMs === undefined) return;
    clearTimeout(this.#timer);
    this.#start(this.#exchange.idleMs);
  }

  /** Pauses the idle timer while this side is slow. */
  rest(): void {
    if (this.#exchange.idleMs !== undefined) clearTimeout(this.#timer);
  }

  error(origin: string, sent: boolean | 'unknown'): NetworkError {
    const { idleMs, timeoutMs = 0 } = this.#exchange;
    return idleMs === undefined
      ? createTimeoutError(origin, timeoutMs, sent)
      : createStallError(origin, idleMs, sent);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#exchange.signal?.removeEventListener('abort', this.#abort);
  }
}

interface Connections {
  readonly request: typeof import('undici').request;
  getDispatcher(url: URL): Dispatcher;
  /** Finds the proxy that failed, without its credential; none if the connection did not use it. */
  findProxy(url: URL, error: unknown): string | undefined;
  close(): Promise<void>;
}

async function openConnections({ env = {}, ca }: TransportOptions): Promise<Connections> {
  const { Agent, EnvHttpProxyAgent, buildConnector, request } = await import('undici');
  const trust =
    ca === undefined ? {} : { ca: [...(await loadBuiltInCertificates()), await requireCertificates(ca)] };
  const direct = new Agent({ connect: trust });
  const httpProxy = readProxyUrl(env, 'http_proxy');
  const httpsProxy = readProxyUrl(env, 'https_proxy');
  if (!httpProxy && !httpsProxy) {
    return {
      request,
      getDispatcher: () => direct,
      findProxy: () => undefined,
      close: () => direct.destroy(),
    };
  }
  const withoutProxy = new WeakSet<object>();
  const connectDirectly = buildConnector(trust);
  const proxied = new EnvHttpProxyAgent({
    // Empty instead of absent: otherwise undici reads the environment of the process.
    httpProxy,
    httpsProxy,
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
    // Many proxies refuse a tunnel to port 80; plain http is forwarded, as curl does.
    proxyTunnel: false,
    // Only used for the hosts of NO_PROXY.
    connect: (options, callback) =>
      connectDirectly(options, (...[error, socket]) => {
        if (!error) return callback(null, socket);
        withoutProxy.add(error);
        callback(error, null);
      }),
    requestTls: trust,
    proxyTls: trust,
  });
  return {
    request,
    getDispatcher: (url) => (isLoopbackHost(url.hostname) ? direct : proxied),
    findProxy: (url, error) => {
      if (isLoopbackHost(url.hostname) || withoutProxy.has(error as object)) return undefined;
      const { protocol, host } = new URL(
        (url.protocol === 'https:' && httpsProxy) || httpProxy || httpsProxy,
      );
      return `${protocol}//${host}`;
    },
    close: async () => void (await Promise.all([direct.destroy(), proxied.destroy()])),
  };
}

function readProxyUrl(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const text = env[name] || env[name.toUpperCase()] || '';
  const address = text === '' || text.includes('://') ? text : `http://${text}`;
  if (address !== '' && !(URL.canParse(address) && /^(https?|socks5):$/.test(new URL(address).protocol))) {
    const message = 'must be the http, https or socks5 URL of a proxy';
    throw new InvalidRequestError([{ path: [name.toUpperCase()], message }]);
  }
  return address;
}

/** Node silently ignores what is not a certificate. */
async function requireCertificates(ca: string): Promise<string> {
  const { X509Certificate } = await import('node:crypto');
  try {
    new X509Certificate(ca);
  } catch {
    throw new InvalidRequestError([{ path: ['ca'], message: 'must contain certificates in PEM form' }]);
  }
  return ca;
}

async function loadBuiltInCertificates(): Promise<readonly string[]> {
  const tls = await import('node:tls');
  const { getCACertificates } = tls as { getCACertificates?: (kind: 'default') => string[] };
  return getCACertificates ? getCACertificates('default') : tls.rootCertificates;
}

/** Calls `started` when a request is about to be written to a connection; before that, nothing was sent. */
function notifyOnStart(started: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const { onRequestStart } = handler;
    handler.onRequestStart = (...given) => {
      started();
      onRequestStart?.apply(handler, given);
    };
    return dispatch(options, handler);
  };
}

function joinHeaders(headers: Record<string, string | string[] | undefined>): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]);
  return Object.fromEntries(entries);
}
