import type { FastifyRequest } from 'fastify';
import { toClientNetwork } from '../../wire/addresses.js';
import { isExposed } from '../configuration/configuration.js';
import type { Caller } from '../operation/caller.js';
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

// Decided: each user has one limit, with all of their credentials, refilled evenly over the minute; none on loopback
// by default.
export function createRateLimit({ configuration, now }: Pick<Context, 'configuration' | 'now'>): RateLimit {
  const perMinute = configuration.rateLimit ?? (isExposed(configuration) && DEFAULT_PER_MINUTE);
  return perMinute === false ? () => 0 : createBuckets(perMinute, now);
}

function createBuckets(perMinute: number, now: () => number): RateLimit {
  const buckets = new Map<string, Bucket>();
  // The clock may be set back.
  const refilled = ({ left, at }: Bucket) =>
    Math.min(perMinute, left + (Math.max(0, now() - at) * perMinute) / 60_000);
  return (caller) => {
    if (buckets.size >= MAX_BUCKETS) forgetQuiet();
    const before = buckets.get(caller);
    const left = before ? refilled(before) : perMinute;
    const admitted = left >= 1;
    buckets.set(caller, { left: admitted ? left - 1 : left, at: now() });
    return admitted ? 0 : ((1 - left) * 60_000) / perMinute;
  };

  function forgetQuiet(): void {
    for (const [caller, bucket] of buckets) if (refilled(bucket) >= perMinute) buckets.delete(caller);
    // So many busy callers at once would fill memory; all counts start again.
    if (buckets.size >= MAX_BUCKETS) buckets.clear();
  }
}

/** The name of a caller without a valid credential: the network, because one customer has many IPv6 addresses. */
export function nameByAddress(address: string | undefined): string {
  // Connections to the socket of the data folder come from this machine and have no address.
  return `address:${toClientNetwork(address ?? '127.0.0.1')}`;
}

/** Who takes turns with others: a user, with all of their credentials, or a network. */
export function nameCaller({ userId }: Caller, ip: string | undefined): string {
  return userId ?? nameByAddress(ip);
}

/**
 * Authenticates a caller, and counts the request against their limit. Callers without a valid credential, who may be
 * guessing one, are counted by their network.
 * @throws Refused rate_limited, and what `find` throws
 */
export async function admitCaller(
  takeRequest: RateLimit,
  { ip }: Pick<FastifyRequest, 'ip'>,
  find: () => Promise<Caller>,
): Promise<Caller> {
  const take = (who: string) => {
    const seconds = Math.ceil(takeRequest(who) / 1000);
    if (seconds === 0) return;
    throw new Refused('rate_limited', `Too many requests; try again in ${seconds} s.`, undefined, seconds);
  };
  const caller = await find().catch((error) => {
    take(nameByAddress(ip));
    throw error;
  });
  if (caller.kind !== 'owner') take(nameCaller(caller, ip));
  return caller;
}
