import { type NetworkCode, NetworkError } from './errors.js';

const codes: Record<string, NetworkCode> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_NODATA: 'dns',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  EPROTO: 'tls',
  UND_ERR_PRX_TLS: 'tls',
};

const untrusted =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(VERIFY|GET)_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH|INVALID_CA)/;

const sentences: Record<NetworkCode, (host: string) => string> = {
  refused: (host) => `Nothing listens at ${host}. Is the service running, and is its address right?`,
  dns: (host) => `The name of ${host} cannot be found. Check its spelling and the network.`,
  unreachable: (host) => `${host} cannot be reached from this network.`,
  reset: (host) => `The connection to ${host} broke before the whole answer came.`,
  tls: (host) => `The secure connection to ${host} cannot be trusted.`,
  proxy: (host) => `The proxy refused the way to ${host}.`,
  timeout: (host) => `${host} did not answer in time.`,
  failed: (host) => `The request to ${host} failed.`,
};

const unreachableProxy: Partial<Record<NetworkCode, string>> = {
  refused: 'nothing listens there',
  dns: 'its name cannot be found',
  unreachable: 'it cannot be reached from this network',
  timeout: 'it did not answer in time',
};

/**
 * Says in words why no answer came.
 * @param origin who was asked; no path, because a path or query may be a secret
 * @param proxy the proxy that all connections go to, without its credential
 */
export function networkError(
  cause: unknown,
  origin: string,
  sent: boolean | 'unknown',
  proxy?: string,
): NetworkError {
  const root = rootOf(cause);
  const code = codeOf(root);
  const unreachable = proxy !== undefined && sent === false && unreachableProxy[code];
  if (unreachable) {
    const message = `The proxy ${proxy} on the way to ${origin} does not work: ${unreachable}. Is HTTP_PROXY or HTTPS_PROXY right?`;
    return new NetworkError(code, message, sent, { cause, proxy });
  }
  const why = code === 'tls' || code === 'failed' || code === 'proxy' ? ` (${root.message})` : '';
  return new NetworkError(code, sentences[code](origin) + why, sent, { cause });
}

export function timeoutError(origin: string, ms: number, sent: boolean | 'unknown'): NetworkError {
  return new NetworkError('timeout', `${origin} did not answer within ${seconds(ms)} s.`, sent);
}

export function stallError(origin: string, ms: number, sent: boolean | 'unknown'): NetworkError {
  return new NetworkError('timeout', `The connection to ${origin} stood still for ${seconds(ms)} s.`, sent);
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;

/** Node tries all addresses of a name and reports them together; undici wraps what happened at the proxy. */
function rootOf(cause: unknown): Error & { code?: string } {
  let error = cause as Error & { code?: string; cause?: unknown; errors?: unknown[] };
  for (let depth = 0; depth < 5; depth++) {
    if (error.errors?.[0] instanceof Error) error = error.errors[0] as typeof error;
    else if (error.code === undefined && error.cause instanceof Error) error = error.cause as typeof error;
    else break;
  }
  return error;
}

function codeOf(error: Error & { code?: string }): NetworkCode {
  const code = error.code ?? '';
  if (untrusted.test(code)) return 'tls';
  if (/^Proxy (response|Authentication)/.test(error.message)) return 'proxy';
  return codes[code] ?? 'failed';
}
