import { setTimeout as pause } from 'node:timers/promises';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { readBody } from '../../wire/read-body.js';
import type { IssuerSettings } from '../configuration/issuer-settings.js';
import { runWithin } from '../network/run-within.js';
import type { Context } from '../operation/context.js';

// Decided: an issuer's keys are fetched again after 5 minutes, so that a revoked key is soon refused, and at
// once for a token signed with an unknown key, but at most once per second. While the issuer does not answer,
// it is asked again every 10 seconds, and the known keys are accepted for a day.
const MAX_AGE_MS = 5 * 60_000;
const MIN_INTERVAL_MS = 1_000;
const RETRY_MS = 10_000;
const MAX_STALE_MS = 24 * 3_600_000;

/** When to try again if an issuer does not answer. */
export const RETRY_AFTER_SECONDS = RETRY_MS / 1000;

/**
 * Creates a function that finds the issuer's key that a token is signed with. It throws IssuerUnavailable if
 * the issuer does not answer and no known key matches.
 */
export function createKeyFinder(issuer: string, { now, log }: Pick<Context, 'now' | 'log'>): JWTVerifyGetKey {
  let keys: { readonly find: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined;
  let tried: { readonly at: number; readonly failure?: IssuerUnavailable } | undefined;
  let running: Promise<void> | undefined;
  // If the clock was set back, everything counts as old.
  const isWithin = (span: number, at: number | undefined) => at !== undefined && Math.abs(now() - at) < span;

  return async (header, token) => {
    if (!isWithin(MAX_AGE_MS, keys?.at)) await refreshKeys();
    try {
      return await requireKeys()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const { failure } = await refreshKeys();
      // The token may be signed with a key that the issuer would list.
      if (failure) throw failure;
      return requireKeys()(header, token);
    }
  };

  function requireKeys(): ReturnType<typeof createLocalJWKSet> {
    if (keys && isWithin(MAX_STALE_MS, keys.at)) return keys.find;
    throw tried?.failure ?? new IssuerUnavailable(`${issuer} has not answered yet`);
  }

  /** Fetches the keys; concurrent callers share one request. */
  async function refreshKeys(): Promise<{ failure?: IssuerUnavailable }> {
    if (tried?.failure && isWithin(RETRY_MS, tried.at)) return tried;
    running ??= fetchKeys().finally(() => {
      running = undefined;
    });
    await running;
    return tried as { failure?: IssuerUnavailable };
  }

  async function fetchKeys(): Promise<void> {
    if (tried && isWithin(MIN_INTERVAL_MS, tried.at))
      await pause(MIN_INTERVAL_MS - Math.abs(now() - tried.at));
    try {
      // jose checks the key set and throws if it is invalid.
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

/** Decided: limits on an issuer's answer. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;

/** The issuer did not answer, or its answer is unusable. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

/**
 * Fetches the key set of an issuer, found through its discovery document. Not validated.
 * @throws IssuerUnavailable
 */
async function fetchKeySet(issuer: string): Promise<unknown> {
  const discovery = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { issuer: name, jwks_uri } = (await fetchJson(discovery)) as { issuer?: unknown; jwks_uri?: unknown };
  if (name !== issuer) throw new IssuerUnavailable(`${discovery} belongs to the issuer ${String(name)}`);
  if (!isSafeUrl(jwks_uri, issuer)) throw new IssuerUnavailable(`${discovery} has no jwks_uri with https`);
  return fetchJson(jwks_uri);
}

/** Asks the identity providers of a configuration. @returns a sentence for each reason why people cannot sign in */
export async function findIssuerTrouble(
  issuers: readonly Pick<IssuerSettings, 'issuer' | 'clientId'>[],
): Promise<string[]> {
  const found = await Promise.all(
    issuers.map(async ({ issuer, clientId }) => {
      const trouble = await fetchKeySet(issuer).then(
        () => [],
        (error: Error) => [`Tokens of ${issuer} would be refused: ${error.message}.`],
      );
      if (clientId !== undefined) return trouble;
      return [
        ...trouble,
        `The issuer ${issuer} has no clientId, so regen auth login needs one with --client-id.`,
      ];
    }),
  );
  return found.flat();
}

function isSafeUrl(url: unknown, issuer: string): url is string {
  if (typeof url !== 'string' || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return true;
  return protocol === 'http:' && isLoopbackHost(hostname) && isLoopbackHost(new URL(issuer).hostname);
}

async function fetchJson(url: string): Promise<object> {
  const { Agent, request } = await import('../../wire/undici.js');
  const agent = new Agent();
  try {
    const text = await runWithin(TIMEOUT_MS, undefined, async (signal) => {
      // Redirects are not followed and count as an unusable answer.
      const { statusCode, body } = await request(agent, new URL(url), {
        signal,
        headers: { accept: 'application/json', 'user-agent': 'regen' },
      });
      body.on('error', () => {});
      if (statusCode === 200) return (await readBody(body, MAX_BYTES)).toString();
      body.destroy();
      throw new IssuerUnavailable(`${url} answered ${statusCode}`);
    });
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
    throw new IssuerUnavailable(`${url} is not a JSON object`);
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new IssuerUnavailable(`${url}: ${code ?? message}`);
  } finally {
    await agent.destroy();
  }
}
