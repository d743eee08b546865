import { setTimeout as pause } from 'node:timers/promises';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Context } from '../context.js';
import { fetchKeySet, IssuerUnavailable } from './issuer-fetch.js';

// Decided: an issuer's keys are looked up again after 5 minutes, so that a key it takes back is honoured no longer; and
// at once for a token whose key is not among them, with a second between two look-ups. While it does not answer, it is
// asked again every 10 seconds, and the keys known are good for a day.
const freshMs = 5 * 60_000;
const apartMs = 1_000;
const retryMs = 10_000;
const lastMs = 24 * 3_600_000;

/** Seconds after which to ask again where an issuer does not answer. */
export const retryAfterSeconds = retryMs / 1000;

/**
 * Finds the key of an issuer that a token is signed with.
 * @throws IssuerUnavailable, by the function it returns, where it does not answer and no key that is known will do
 */
export function issuerKeys(issuer: string, { now, log }: Pick<Context, 'now' | 'log'>): JWTVerifyGetKey {
  let keys: { readonly find: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined;
  let tried: { readonly at: number; readonly failure?: IssuerUnavailable } | undefined;
  let running: Promise<void> | undefined;
  // A clock that was set back makes everything old.
  const isWithin = (span: number, at: number | undefined) => at !== undefined && Math.abs(now() - at) < span;

  return async (header, token) => {
    if (!isWithin(freshMs, keys?.at)) await refresh();
    try {
      return await known()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const { failure } = await refresh();
      // It may be signed with a key that would be there if the issuer answered.
      if (failure) throw failure;
      return known()(header, token);
    }
  };

  function known(): ReturnType<typeof createLocalJWKSet> {
    if (keys && isWithin(lastMs, keys.at)) return keys.find;
    throw tried?.failure ?? new IssuerUnavailable(`${issuer} was never reached`);
  }

  /** Looks the keys up, once for all who ask meanwhile. */
  async function refresh(): Promise<{ failure?: IssuerUnavailable }> {
    if (tried?.failure && isWithin(retryMs, tried.at)) return tried;
    running ??= lookUp().finally(() => {
      running = undefined;
    });
    await running;
    return tried as { failure?: IssuerUnavailable };
  }

  async function lookUp(): Promise<void> {
    if (tried && isWithin(apartMs, tried.at)) await pause(apartMs - Math.abs(now() - tried.at));
    try {
      // Checked by jose, which throws where it is no key set.
      const find = createLocalJWKSet((await fetchKeySet(issuer)) as JSONWebKeySet);
      keys = { find, at: now() };
      tried = { at: now() };
    } catch (error) {
      const failure = error instanceof IssuerUnavailable ? error : new IssuerUnavailable(`${error}`);
      tried = { at: now(), failure };
      log('warn', 'An identity provider does not answer.', { issuer, reason: failure.message });
    }
  }
}
