import { isExposed } from '../configuration/configuration.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';

interface Bucket {
  /** Requests left. */
  left: number;
  /** When `left` was last updated; milliseconds since the epoch. */
  at: number;
}

/** Above this, callers whose limit is full again are forgotten. */
const MAX_BUCKETS = 10_000;

/** Counts one request of a caller. @returns milliseconds to wait; 0 if the request may pass */
export type RateLimit = (caller: string) => number;

/** Requests per minute of a caller of a service that others can reach. */
const DEFAULT_PER_MINUTE = 600;

// Decided: each caller has its own limit, refilled evenly over the minute; none on loopback by default.
export function createRateLimit({ configuration, now }: Pick<Context, 'configuration' | 'now'>): RateLimit {
  const perMinute = configuration.rateLimit ?? (isExposed(configuration) && DEFAULT_PER_MINUTE);
  return perMinute === false ? () => 0 : createBuckets(perMinute, now);
}

function createBuckets(perMinute: number, now: () => number): RateLimit {
  const buckets = new Map<string, Bucket>();
  const refilled = ({ left, at }: Bucket) => Math.min(perMinute, left + ((now() - at) * perMinute) / 60_000);
  return (caller) => {
    if (buckets.size >= MAX_BUCKETS) forgetQuiet();
    const before = buckets.get(caller);
    const left = before ? refilled(before) : perMinute;
    const admitted = left >= 1;
    buckets.set(caller, { left: admitted ? left - 1 : left, at: now() });
    return admitted ? 0 : ((1 - left) * 60_000) / perMinute;
  };

  function forgetQuiet(): void {
    for (const [caller, bucket] of buckets) {
      if (refilled(bucket) >= perMinute) buckets.delete(caller);
    }
  }
}

export function rateLimitExceeded(milliseconds: number): Refused {
  const seconds = Math.ceil(milliseconds / 1000);
  return new Refused('rate_limited', `Too many requests; try again in ${seconds} s.`);
}
