import type { Dispatcher } from 'undici';
import { isLoopbackHost } from '../contract/schema/loopback.js';
import type { Lookup } from '../wire/checked-lookup.js';
import { AddressRule } from './address-rule.js';
import { InvalidRequestError } from './errors.js';

export interface ConnectionOptions {
  /** The service, whose answers may not lead to every address. Default: every address is used. */
  readonly baseUrl?: URL;
  /** Resolves names. Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  /** A Unix socket or named pipe that all requests to this origin take, instead of its port. */
  readonly socket?: { readonly origin: string; readonly path: string } | undefined;
  /** Environment with `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in either case. Default: no proxy. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Certificates in PEM form to trust besides the built-in ones and `NODE_EXTRA_CA_CERTS`. */
  readonly ca?: string;
}

/** @internal */
export interface Connections {
  readonly request: typeof import('../wire/undici.js').request;
  /** @throws AddressRefused */
  getDispatcher(url: URL): Promise<Dispatcher>;
  /** Finds the proxy that failed, without its credential; none if the connection did not use it. */
  findProxy(url: URL, error: unknown): string | undefined;
  close(): Promise<void>;
}

/** @internal */
export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const { env = {}, ca, baseUrl, lookup, socket } = options;
  const { Agent, buildConnector, createProxyAgent, request } = await import('../wire/undici.js');
  const trust =
    ca === undefined ? {} : { ca: [...(await loadBuiltInCertificates()), await requireCertificates(ca)] };
  const httpProxy = readProxyUrl(env, 'http_proxy');
  const httpsProxy = readProxyUrl(env, 'https_proxy');
  const isProxied = httpProxy !== '' || httpsProxy !== '';
  const rule = baseUrl && new AddressRule(baseUrl, { lookup, isLocal: socket !== undefined, isProxied });
  const connectToService = buildConnector({ ...trust, lookup: rule?.ownLookup });
  const connectToOther = buildConnector({ ...trust, lookup: rule?.lookup });
  const connectDirectly: typeof connectToOther = (to, callback) =>
    (rule?.isOwn(`${to.protocol}//${to.host}`) ? connectToService : connectToOther)(to, callback);
  const overSocket = socket && new Agent({ connect: { socketPath: socket.path } });
  const direct = new Agent({ connect: connectDirectly });
  const withoutProxy = new WeakSet<object>();
  const proxied = isProxied
    ? await createProxyAgent({
        // Empty instead of absent: otherwise undici reads the environment of the process.
        httpProxy,
        httpsProxy,
        noProxy: env.no_proxy || env.NO_PROXY || '',
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
      })
    : undefined;
  return {
    request,
    getDispatcher: async (url) => {
      if (overSocket && url.origin === socket.origin) return overSocket;
      await rule?.check(url);
      return proxied && !isLoopbackHost(url.hostname) ? proxied : direct;
    },
    findProxy: (url, error) => {
      if (!proxied || isLoopbackHost(url.hostname) || withoutProxy.has(error as object)) return undefined;
      const { protocol, host } = new URL(
        (url.protocol === 'https:' && httpsProxy) || httpProxy || httpsProxy,
      );
      return `${protocol}//${host}`;
    },
    close: async () => void (await Promise.all([overSocket, direct, proxied].map((one) => one?.destroy()))),
  };
}

function readProxyUrl(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const text = env[name] || env[name.toUpperCase()] || '';
  const address = text && parseProxyUrl(text);
  if (address !== undefined) return address;
  const message = 'must be the http, https or socks5 URL of a proxy';
  throw new InvalidRequestError([{ path: [name.toUpperCase()], message }]);
}

/**
 * Parses the address of a proxy, which may lack the scheme.
 * @returns undefined if it is not one
 */
export function parseProxyUrl(text: string): string | undefined {
  const address = text.includes('://') ? text : `http://${text}`;
  const isProxy = URL.canParse(address) && /^(https?|socks5):$/.test(new URL(address).protocol);
  return isProxy ? address : undefined;
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
