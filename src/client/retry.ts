import { type ClientError, NetworkError, ServiceError } from './errors.js';

export interface Attempted {
  readonly method: string;
  /** The request carries an `Idempotency-Key`, and this service has shown that it honours it. */
  readonly keyHonoured: boolean;
}

const busy = [429, 503];
const passing = [429, 502, 503, 504];

/**
 * Decided: GET, PUT and DELETE are repeated on connection failures, 429 and 502 to 504; a POST only if nothing
 * was sent, on 429 or 503, or if the service has shown that it honours keys.
 */
export function mayRepeat({ method, keyHonoured }: Attempted, error: ClientError): boolean {
  const safe = ['GET', 'HEAD', 'PUT', 'DELETE'].includes(method) || keyHonoured;
  if (error instanceof ServiceError) {
    // Only a key brings this answer: the first request with it is still running.
    if (error.code === 'idempotency_in_flight') return true;
    return (safe ? passing : busy).includes(error.status);
  }
  if (!(error instanceof NetworkError)) return false;
  // An untrusted certificate, a proxy's refusal or a request that cannot be written is not mended by asking again.
  if (['tls', 'proxy', 'failed'].includes(error.code)) return false;
  return safe || error.sent === false;
}

/** The longest pause asked for by a service that is waited out before the error is shown instead. */
const longestRetryAfterMs = 120_000;
const longestPauseMs = 10_000;

/**
 * The pause before the next attempt in milliseconds: what the service asked for, or 250 ms doubled with each
 * attempt, half of it by chance. `undefined` where the service asks for more than is worth waiting.
 * @param attempt how many attempts failed, from 1
 */
export function pauseBefore(attempt: number, error: ClientError, random: () => number): number | undefined {
  const asked = error instanceof ServiceError ? error.retryAfterMs : undefined;
  if (asked !== undefined) return asked <= longestRetryAfterMs ? asked : undefined;
  const full = Math.min(250 * 2 ** (attempt - 1), longestPauseMs);
  return full * (0.5 + random() / 2);
}

/** Reads `Retry-After`, seconds or a date, as milliseconds from `now`. Nonsense is `undefined`. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse would take '-5' or '1e3' for a year.
  const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
