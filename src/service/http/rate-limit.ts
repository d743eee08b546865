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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It counts its requests itself, by the user of the credential. */
    countsCallers?: boolean;
  }
}

/** Requests per minute of a caller of a service that others can reach. */
const DEFAULT_PER_MINUTE = 600;

/** A load balancer asks every second or two whether a service is alive, however low the limit is. */
const MIN_OTHERS_PER_MINUTE = 120;
const PROBES = ['/health', '/ready'];

// Decided: each user has one limit, with all of their credentials, refilled evenly over the minute; none on loopback
// by default.
export function createRateLimit({ configuration, now }: Pick<Context, 'configuration' | 'now'>): RateLimit {
  const perMinute = configuration.rateLimit ?? (isExposed(configuration) && DEFAULT_PER_MINUTE);
  if (perMinute === false) return () => 0;
  const take = createBuckets(perMinute, now);
  const takeOther = createBuckets(Math.max(perMinute, MIN_OTHERS_PER_MINUTE), now);
  return (caller) => (caller.startsWith(OTHER) ? takeOther(caller) : take(caller));
}

const OTHER = 'other:';

// Decided: documents, signed URLs and unknown paths count by network, apart from operations, and so do probes, so that no
// other request makes a service look dead.
/**
 * Counts a request that is not for an operation.
 * @throws Refused rate_limited
 */
export function countRequest(
  takeRequest: RateLimit,
  { routeOptions: { url = '' }, ip, raw }: FastifyRequest,
): void {
  // Only the owner reaches the socket of the data folder.
  if (raw.socket.remoteAddress === undefined) return;
  requireRate(takeRequest, `${OTHER}${PROBES.includes(url) ? 'probe:' : ''}${nameByAddress(ip)}`);
}

/** @throws Refused rate_limited */
function requireRate(takeRequest: RateLimit, who: string): void {
  const seconds = Math.ceil(takeRequest(who) / 1000);
  if (seconds === 0) return;
  throw new Refused('rate_limited', `Too many requests; try again in ${seconds} s.`, undefined, seconds);
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

/** The name of a caller whose credential was checked, or of the network of any other. */
export function nameCaller({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller?.userId ?? nameByAddress(ip);
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
  const caller = await find().catch((error) => {
    requireRate(takeRequest, nameByAddress(ip));
    throw error;
  });
  if (caller.kind !== 'owner') requireRate(takeRequest, nameCaller({ caller, ip }));
  return caller;
}
