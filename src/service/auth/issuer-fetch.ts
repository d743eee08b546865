import { request } from 'undici';
import { isLoopbackHost } from '../generation/addresses.js';
import { textWithin } from '../text-within.js';

/** Decided: what an issuer's answer may take, whoever answers in its name. */
const patienceMs = 5_000;
const mostBytes = 512 * 1024;

/** What an issuer answered cannot be used, or nothing came. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

/**
 * The key set of an issuer, found through its discovery document, as it came.
 * @throws IssuerUnavailable
 */
export async function fetchKeySet(issuer: string): Promise<unknown> {
  const discovery = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { issuer: name, jwks_uri } = (await fetchJson(discovery)) as { issuer?: unknown; jwks_uri?: unknown };
  if (name !== issuer) throw new IssuerUnavailable(`${discovery} is of the issuer ${String(name)}`);
  if (!isSafe(jwks_uri, issuer)) throw new IssuerUnavailable(`${discovery} names no jwks_uri with https`);
  return fetchJson(jwks_uri);
}

function isSafe(url: unknown, issuer: string): url is string {
  if (typeof url !== 'string' || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return true;
  return protocol === 'http:' && isLoopbackHost(hostname) && isLoopbackHost(new URL(issuer).hostname);
}

async function fetchJson(url: string): Promise<object> {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    // Redirects are not followed: they are an answer that cannot be used.
    const { statusCode, body } = await request(url, {
      signal,
      headers: { accept: 'application/json', 'user-agent': 'regen' },
    });
    body.on('error', () => {});
    if (statusCode !== 200) {
      body.destroy();
      throw new IssuerUnavailable(`${url} answered ${statusCode}`);
    }
    const value: unknown = JSON.parse(await textWithin(body, mostBytes));
    if (typeof value === 'object' && value !== null) return value;
    throw new IssuerUnavailable(`${url} is no JSON object`);
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new IssuerUnavailable(`${url}: ${code ?? message}`);
  }
}
