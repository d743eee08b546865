import { isIP } from 'node:net';
import { ResponseError, ServiceError } from '../../client/errors.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { isLoopbackAddress, isPublicAddress } from '../../wire/addresses.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { Failure } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';

export interface SignInConfiguration {
  readonly issuer: string;
  readonly clientId: string;
  /** The resource that the token is for (RFC 8707). */
  readonly resource: string;
  /** The required audience of its access tokens. */
  readonly audience: string;
  readonly scope: string;
}

type DiscoveryContext = Needs<'connect' | 'flags' | 'signal'>;

// Decided: the default scopes request the identity of the user and a refresh token.
const DEFAULT_SCOPES = ['openid', 'profile', 'email', 'offline_access'];

/**
 * Reads where people sign in to a service (RFC 9728).
 * @throws Failure if the service does not say, or names something unusable
 */
export async function discoverSignIn(context: DiscoveryContext, url: string): Promise<SignInConfiguration> {
  const metadata = await readMetadata(context, url);
  const [issuer] = metadata?.authorization_servers ?? [];
  if (!metadata || !issuer) {
    throw toUnusableFailure(`${url} does not support sign-in with a browser.`, TOKEN_HINT);
  }
  // Otherwise a service could obtain a token that is meant for another service.
  if (!isSameAddress(metadata.resource, url)) {
    throw toUnusableFailure(
      `${url} identifies itself as ${metadata.resource}.`,
      `If you trust that address, use: --base-url ${shellWord(metadata.resource)}`,
    );
  }
  const problem = findAddressProblem(issuer, url);
  if (problem) {
    throw toUnusableFailure(
      `The identity provider ${issuer} ${problem}, so it is not safe to sign in there.`,
    );
  }
  const expected = readText(context.flags, 'issuer');
  if (expected !== undefined && !isSameAddress(expected, issuer)) {
    throw toUnusableFailure(`${url} signs in with ${issuer} instead of ${expected}.`);
  }
  const clientId = readText(context.flags, 'client-id') ?? metadata.regen_client_id;
  if (!clientId) {
    throw toUnusableFailure(
      `${url} does not name a client id for ${issuer}.`,
      'Ask the service operator for the client id and pass --client-id, or sign in with a token: --with-token.',
    );
  }
  const scopes = metadata.scopes_supported ?? DEFAULT_SCOPES;
  const audience = readText(context.flags, 'audience') ?? metadata.resource;
  return { issuer, clientId, resource: metadata.resource, audience, scope: scopes.join(' ') };
}

const TOKEN_HINT =
  'Use a token; that of your own service is owner.token in its data folder: regen auth login --with-token < token.txt';

function toUnusableFailure(message: string, hint = TOKEN_HINT): Failure {
  return new Failure(message, { code: 'sign_in_unavailable', hint });
}

/** Returns undefined if the service does not have this extension or an identity provider. */
async function readMetadata({ connect, signal }: DiscoveryContext, url: string) {
  const client = await connect(url);
  try {
    return await client.service.protectedResource({}, { signal });
  } catch (error) {
    const isAbsent = error instanceof ServiceError && [401, 403, 404, 405].includes(error.status);
    if (isAbsent || error instanceof ResponseError) return undefined;
    throw error;
  }
}

/**
 * Finds why an address that another one names is not used, as a sentence without its subject. Plain http is safe on
 * this machine, but only what is on this machine or in a private network may name an address there.
 */
export function findAddressProblem(address: string, namedBy: string): string | undefined {
  const { protocol = '', hostname = '' } = URL.canParse(address) ? new URL(address) : {};
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopbackHost(hostname)))
    return 'does not have an https address';
  return measureNearness(address) > measureNearness(namedBy)
    ? `is on this machine or in a private network, and ${namedBy} is not`
    : undefined;
}

/** 2 on this machine, 1 in a private network, otherwise 0. */
function measureNearness(address: string): number {
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  if (isLoopbackHost(host) || isLoopbackAddress(host)) return 2;
  return isIP(host) !== 0 && !isPublicAddress(host) ? 1 : 0;
}

/** Compares two addresses; all names of this machine are equal. */
export function isSameAddress(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return one === other;
  return normalizeAddress(one) === normalizeAddress(other);
}

function normalizeAddress(address: string): string {
  const url = new URL(address);
  if (isLoopbackHost(url.hostname)) url.hostname = 'localhost';
  return url.href.replace(/(?<!\/)\/+$/, '');
}
