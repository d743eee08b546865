import type { ClientError } from './errors.js';

/** An event of a request, for `--verbose`. Secrets are masked. */
export type Trace =
  | {
      readonly kind: 'request';
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly ms: number;
    }
  | { readonly kind: 'redirect'; readonly url: string }
  | {
      readonly kind: 'retry';
      readonly attempt: number;
      readonly pauseMs: number;
      readonly reason: ClientError;
    };

const SECRET_HEADER = /^(proxy-)?authorization$|^(set-)?cookie$|token|secret|api-?key/i;
const SECRET_QUERY = /sig|token|secret|key|credential|expires|policy/i;

export function maskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => {
    if (name.toLowerCase() === 'location')
      return [name, URL.canParse(value) ? maskUrl(new URL(value)) : '***'];
    return [name, SECRET_HEADER.test(name) && name.toLowerCase() !== 'idempotency-key' ? '***' : value];
  });
  return Object.fromEntries(entries);
}

/** Masks the password and the signature of a URL. */
export function maskUrl(url: URL): string {
  const shown = new URL(url);
  if (shown.password) shown.password = '***';
  for (const name of shown.searchParams.keys()) {
    if (SECRET_QUERY.test(name)) shown.searchParams.set(name, '***');
  }
  return shown.href;
}
