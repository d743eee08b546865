import type { ClientError } from './errors.js';

/** What happens on the way, for `--verbose`. Secrets are masked. */
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

const secretHeader = /^(proxy-)?authorization$|^(set-)?cookie$|token|secret|api-?key/i;
const secretQuery = /sig|token|secret|key|credential|expires|policy/i;

/** Headers as they may be shown. */
export function maskedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => {
    if (name.toLowerCase() === 'location')
      return [name, URL.canParse(value) ? maskedUrl(new URL(value)) : '***'];
    return [name, secretHeader.test(name) && name.toLowerCase() !== 'idempotency-key' ? '***' : value];
  });
  return Object.fromEntries(entries);
}

/** An address as it may be shown: without a password, and without what signs it. */
export function maskedUrl(url: URL): string {
  const shown = new URL(url);
  if (shown.password) shown.password = '***';
  for (const name of shown.searchParams.keys()) {
    if (secretQuery.test(name)) shown.searchParams.set(name, '***');
  }
  return shown.href;
}
