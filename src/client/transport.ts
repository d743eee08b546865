import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { InvalidRequestError, NetworkError } from './errors.js';
import { networkError, stallError, timeoutError } from './network.js';
import { isLoopback } from './url.js';

export interface TransportOptions {
  /** Where proxy variables are read from (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, either case). Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Certificates in PEM that are trusted besides the built-in ones. `NODE_EXTRA_CA_CERTS` is Node's own. */
  readonly ca?: string;
}

/** Header names in lower case; a header that came more than once is joined with `, `. */
export type Headers = Readonly<Record<string, string>>;

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** A function makes a stream, and calls `moved` with each part that is taken from it. */
  readonly body?: string | Uint8Array | ((moved: () => void) => Readable | Promise<Readable>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the whole exchange, the answer's body included. Absent: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Instead of a limit for the whole: how long nothing may move while the other side is waited for. */
  readonly idleMs?: number | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The address that answered, after redirects. */
  readonly url: URL;
  /** To be read once, or discarded. Fails with NetworkError or the signal's reason. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives the connection back without reading the body. */
  discard(): Promise<void>;
}

export interface Transport {
  /** One request, one answer: no redirects, no repeats. Fails with NetworkError or the signal's reason. */
  exchange(exchange: Exchange): Promise<Answer>;
  /** Ends all connections at once. */
  close(): Promise<void>;
}

/** Connections over undici, which is loaded with the first request and not before. */
export function createTransport(options: TransportOptions = {}): Transport {
  let loading: Promise<Connections> | undefined;
  let closed = false;

  return {
    async exchange(exchange) {
      if (closed) throw new NetworkError('failed', 'The client was closed.', false);
      loading ??= connect(options);
      const { request, dispatcherFor, proxyOf } = await loading;
      exchange.signal?.throwIfAborted();

      let sent: boolean | 'unknown' = false;
      const limit = new Limit(exchange);
      const inWords = (error: unknown) => {
        if (exchange.signal?.aborted) return exchange.signal.reason;
        const { origin } = exchange.url;
        return limit.signal.aborted
          ? limit.error(origin, sent)
          : networkError(error, origin, sent, proxyOf(exchange.url, error));
      };
      const dispatcher = dispatcherFor(exchange.url).compose(
        whenStarted(() => {
          sent = 'unknown';
        }),
      );
      const body = await open(exchange.body, limit);
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
        // undici notices an abort only once a connection stands.
        const { statusCode, headers, body: stream } = await Promise.race([answering, limit.passed]);
        sent = true;
        limit.rest();
        return {
          status: statusCode,
          headers: joined(headers),
          url: exchange.url,
          body: chunks(stream, inWords, limit),
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
        throw inWords(error);
      }
    },
    async close() {
      closed = true;
      // Where loading failed, the request that wanted it was told.
      await (await loading?.catch(() => undefined))?.close();
    },
  };
}

async function open(
  body: Exchange['body'],
  limit: Limit,
): Promise<string | Uint8Array | Readable | undefined> {
  if (typeof body !== 'function') return body;
  try {
    return await body(() => limit.moved());
  } catch (error) {
    limit.end();
    throw error;
  }
}

async function* chunks(body: Readable, inWords: (error: unknown) => unknown, limit: Limit) {
  const reading: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Only what the connection throws is put in words, not what the reader of this body throws.
      limit.moved();
      const next = await reading.next().catch((error) => {
        throw inWords(error);
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

/** Timers of more than this fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Ends an exchange on the caller's signal, after a time, or when nothing moved for a time. */
class Limit {
  private readonly controller = new AbortController();
  private readonly abort = () => this.controller.abort();
  private timer: NodeJS.Timeout | undefined;
  readonly signal = this.controller.signal;
  readonly passed: Promise<never>;

  constructor(private readonly exchange: Exchange) {
    this.passed = new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
    });
    // It may come while nobody looks at it.
    this.passed.catch(() => undefined);
    exchange.signal?.addEventListener('abort', this.abort, { once: true });
    this.start(exchange.idleMs ?? exchange.timeoutMs);
  }

  private start(ms: number | undefined): void {
    if (ms !== undefined) this.timer = setTimeout(this.abort, Math.min(ms, longestTimerMs));
  }

  moved(): void {
    if (this.exchange.idleMs === undefined) return;
    clearTimeout(this.timer);
    this.start(this.exchange.idleMs);
  }

  /** While our own side is slow, the other is not to blame. */
  rest(): void {
    if (this.exchange.idleMs !== undefined) clearTimeout(this.timer);
  }

  error(origin: string, sent: boolean | 'unknown'): NetworkError {
    const { idleMs, timeoutMs = 0 } = this.exchange;
    return idleMs === undefined ? timeoutError(origin, timeoutMs, sent) : stallError(origin, idleMs, sent);
  }

  end(): void {
    clearTimeout(this.timer);
    this.exchange.signal?.removeEventListener('abort', this.abort);
  }
}

interface Connections {
  readonly request: typeof import('undici').request;
  dispatcherFor(url: URL): Dispatcher;
  /** The proxy that failed, without its credential; none where a connection past it did. */
  proxyOf(url: URL, error: unknown): string | undefined;
  close(): Promise<void>;
}

async function connect({ env = {}, ca }: TransportOptions): Promise<Connections> {
  const { Agent, EnvHttpProxyAgent, buildConnector, request } = await import('undici');
  const trust = ca === undefined ? {} : { ca: [...(await builtInCertificates()), await certificates(ca)] };
  const direct = new Agent({ connect: trust });
  const httpProxy = proxyFrom(env, 'http_proxy');
  const httpsProxy = proxyFrom(env, 'https_proxy');
  if (!httpProxy && !httpsProxy) {
    return {
      request,
      dispatcherFor: () => direct,
      proxyOf: () => undefined,
      close: () => direct.destroy(),
    };
  }
  const past = new WeakSet<object>();
  const connectPast = buildConnector(trust);
  const proxied = new EnvHttpProxyAgent({
    // Empty rather than absent: undici would look into the process's environment itself.
    httpProxy,
    httpsProxy,
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
    // Many proxies refuse a tunnel to port 80; plain http is forwarded, as curl does it.
    proxyTunnel: false,
    // Used for the hosts of NO_PROXY alone.
    connect: (options, callback) =>
      connectPast(options, (...[error, socket]) => {
        if (!error) return callback(null, socket);
        past.add(error);
        callback(error, null);
      }),
    requestTls: trust,
    proxyTls: trust,
  });
  return {
    request,
    dispatcherFor: (url) => (isLoopback(url.hostname) ? direct : proxied),
    proxyOf: (url, error) => {
      if (isLoopback(url.hostname) || past.has(error as object)) return undefined;
      const { protocol, host } = new URL(
        (url.protocol === 'https:' && httpsProxy) || httpProxy || httpsProxy,
      );
      return `${protocol}//${host}`;
    },
    close: async () => void (await Promise.all([direct.destroy(), proxied.destroy()])),
  };
}

function proxyFrom(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const text = env[name] || env[name.toUpperCase()] || '';
  const address = text === '' || text.includes('://') ? text : `http://${text}`;
  if (address !== '' && !(URL.canParse(address) && /^(https?|socks5):$/.test(new URL(address).protocol))) {
    const message = 'must be the http, https or socks5 URL of a proxy';
    throw new InvalidRequestError([{ path: [name.toUpperCase()], message }]);
  }
  return address;
}

/** Node takes what is no certificate without a word, and trusts nothing more than before. */
async function certificates(ca: string): Promise<string> {
  const { X509Certificate } = await import('node:crypto');
  try {
    new X509Certificate(ca);
  } catch {
    throw new InvalidRequestError([{ path: ['ca'], message: 'must hold certificates in PEM form' }]);
  }
  return ca;
}

async function builtInCertificates(): Promise<readonly string[]> {
  const tls = await import('node:tls');
  const { getCACertificates } = tls as { getCACertificates?: (kind: 'default') => string[] };
  return getCACertificates ? getCACertificates('default') : tls.rootCertificates;
}

/** Calls back when a request is about to be written to a connection: before, surely nothing was sent. */
function whenStarted(started: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const { onRequestStart } = handler;
    handler.onRequestStart = (...given) => {
      started();
      onRequestStart?.apply(handler, given);
    };
    return dispatch(options, handler);
  };
}

function joined(headers: Record<string, string | string[] | undefined>): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]);
  return Object.fromEntries(entries);
}
