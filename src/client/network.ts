import { AddressRefused } from './address-rule.js';
import { type NetworkCode, NetworkError } from './errors.js';

const NETWORK_CODES: Record<string, Exclude<NetworkCode, 'address'>> = {
  ECONNREFUSED: 'refused',
  // A socket that does not exist.
  ENOENT: 'refused',
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

const UNTRUSTED =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(VERIFY|GET)_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH|INVALID_CA)/;

const SENTENCES: Record<Exclude<NetworkCode, 'address'>, (host: string) => string> = {
  refused: (host) => `Nothing is listening at ${host}. Is the service running, and is the address right?`,
  dns: (host) => `The host name of ${host} cannot be resolved. Check the spelling and the network.`,
  unreachable: (host) => `${host} cannot be reached from this network.`,
  reset: (host) => `The connection to ${host} was closed before the response was complete.`,
  tls: (host) => `The secure connection to ${host} cannot be trusted.`,
  proxy: (host) => `The proxy refused to connect to ${host}.`,
  timeout: (host) => `${host} did not answer in time.`,
  failed: (host) => `The request to ${host} failed.`,
};

const PROXY_SENTENCES: Partial<Record<NetworkCode, string>> = {
  refused: 'nothing is listening there',
  dns: 'its host name cannot be resolved',
  unreachable: 'it cannot be reached from this network',
  timeout: 'it did not answer in time',
};

/**
 * Describes why no response arrived.
 * @param origin the origin of the request; no path, because a path or query may be a secret
 * @param proxy the proxy that was used, without its credential
 */
export function toNetworkError(
  cause: unknown,
  origin: string,
  sent: boolean | 'unknown',
  proxy?: string,
): NetworkError {
  const root = findRootCause(cause);
  if (root instanceof AddressRefused) return new NetworkError('address', root.message, false, { cause });
  if (isPlainText(root)) {
    const message = `${origin} does not use TLS; its address may begin with http:// instead of https://.`;
    return new NetworkError('tls', message, false, { cause });
  }
  const code = classifyCause(root);
  const unreachable = proxy !== undefined && sent === false && PROXY_SENTENCES[code];
  if (unreachable) {
    const message = `The proxy ${proxy} cannot be used to reach ${origin}: ${unreachable}. Check HTTP_PROXY and HTTPS_PROXY.`;
    return new NetworkError(code, message, sent, { cause, proxy });
  }
  const why = code === 'tls' || code === 'failed' || code === 'proxy' ? ` (${root.message})` : '';
  return new NetworkError(code, SENTENCES[code](origin) + why, sent, { cause });
}

/** @param moved how many bytes were sent or received in this time; absent if none ever were */
export function createTimeoutError(
  origin: string,
  { ms, moved }: { readonly ms: number; readonly moved?: number | undefined },
  sent: boolean | 'unknown',
): NetworkError {
  const seconds = `${Math.round(ms / 100) / 10} s`;
  const what = moved === 0 ? 'was idle for' : `moved only ${moved} bytes in`;
  const message =
    moved === undefined
      ? `${origin} did not answer within ${seconds}.`
      : `The connection to ${origin} ${what} ${seconds}.`;
  return new NetworkError('timeout', message, sent);
}

/** Node reports the failures of all addresses of a name together; undici wraps the failure of a proxy. */
function findRootCause(cause: unknown): Error & { code?: string } {
  let error = cause as Error & { code?: string; cause?: unknown; errors?: unknown[] };
  for (let depth = 0; depth < 5; depth++) {
    if (error.errors?.[0] instanceof Error) error = error.errors[0] as typeof error;
    else if (error.code === undefined && error.cause instanceof Error) error = error.cause as typeof error;
    else break;
  }
  return error;
}

/** Whether the other end answered in plain text: its first bytes are taken for a version of TLS. */
function isPlainText({ code, reason }: Error & { code?: string; reason?: string }): boolean {
  return (
    code === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
    code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG' ||
    reason === 'wrong version number' ||
    reason === 'packet length too long'
  );
}

function classifyCause(error: Error & { code?: string }): Exclude<NetworkCode, 'address'> {
  const code = error.code ?? '';
  if (UNTRUSTED.test(code)) return 'tls';
  if (/^Proxy (response|Authentication)/.test(error.message)) return 'proxy';
  return NETWORK_CODES[code] ?? 'failed';
}
