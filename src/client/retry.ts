import { backoffMs } from '../wire/backoff.js';
import { type ClientError, NetworkError, ServiceError } from './errors.js';

const BUSY_STATUSES = [429, 503];
const TRANSIENT_STATUSES = [429, 502, 503, 504];

/**
 * Whether a failed request may be repeated.
 * Decided: reads, PUT, DELETE and, where the service has shown that it honours keys, POST are repeated on
 * connection failures, 429 and 502 to 504; other POSTs only if nothing was sent, on 429 or 503. A timeout is
 * never repeated: a silent service costs one timeout, not several.
 * @param idempotent carrying the request out twice has the effect of once
 */
export function mayRepeat(idempotent: boolean, error: ClientError): boolean {
  if (error instanceof ServiceError) {
    // The first request with the same key is still running.
    if (error.code === 'idempotency_in_flight') return true;
    return (idempotent ? TRANSIENT_STATUSES : BUSY_STATUSES).includes(error.status);
  }
  if (!(error instanceof NetworkError)) return false;
  // Repeating does not help with an untrusted certificate, a refusing proxy or a request that cannot be
  // written.
  if (['timeout', 'tls', 'proxy', 'failed'].includes(error.code)) return false;
  return idempotent || error.sent === false;
}

/** If a service asks for a longer pause, the error is reported instead. */
const MAX_RETRY_AFTER_MS = 120_000;
const MAX_PAUSE_MS = 10_000;

/**
 * Computes the pause before the next attempt: what the service asked for, or 250 ms doubled with each attempt
 * and with jitter.
 * @param attempt how many attempts failed, from 1
 * @returns milliseconds; undefined if the service asks for too long a pause
 */
export function computePauseMs(
  attempt: number,
  error: ClientError,
  random: () => number,
): number | undefined {
  const asked = error instanceof ServiceError ? error.retryAfterMs : undefined;
  if (asked !== undefined) return asked <= MAX_RETRY_AFTER_MS ? asked : undefined;
  return backoffMs(attempt, { firstMs: 250, maxMs: MAX_PAUSE_MS, random });
}
