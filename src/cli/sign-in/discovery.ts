import { ResponseError, ServiceError } from '../../client/errors.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { type FlagValues, readText } from '../command/command.js';
import type { Connect } from '../connect/clients.js';
import { exitCodes, Failure } from '../terminal/failure.js';

/** Where people sign in to a service, and what is asked for there. */
export interface SignInPlace {
  readonly issuer: string;
  readonly clientId: string;
  /** Whom the token is to be for (RFC 8707). */
  readonly resource: string;
  /** The audience that its access tokens must have. */
  readonly audience: string;
  readonly scope: string;
}

interface DiscoveryContext {
  readonly connect: Connect;
  readonly flags: FlagValues;
  readonly signal: AbortSignal;
}

// Decided: asked for where the service does not say what: who it is, and to stay signed in.
const usualScopes = ['openid', 'profile', 'email', 'offline_access'];

/**
 * What the service says of where its people sign in (RFC 9728).
 * @throws Failure where it says nothing that could be used
 */
export async function signInPlace(context: DiscoveryContext, url: string): Promise<SignInPlace> {
  const said = await readMetadata(context, url);
  const [issuer] = said?.authorization_servers ?? [];
  if (!said || !issuer) {
    throw toUnusableFailure(`${url} does not say where its people sign in.`, withToken);
  }
  // A service that names another one would have the token sent that is meant for the other.
  if (!isSame(said.resource, url)) {
    throw toUnusableFailure(
      `${url} says that it is ${said.resource}.`,
      `If you trust it: --base-url ${said.resource}`,
    );
  }
  if (!mayBeAsked(issuer)) {
    throw toUnusableFailure(
      `The identity provider ${issuer} is no https address, so nobody should sign in there.`,
    );
  }
  const clientId = readText(context.flags, 'client-id') ?? said.regen_client_id;
  if (!clientId) {
    throw toUnusableFailure(
      `${url} does not say which client this is at ${issuer}.`,
      'Ask its people for the client id, and give it with --client-id; or bring a token: --with-token.',
    );
  }
  const scopes = said.scopes_supported ?? usualScopes;
  const audience = readText(context.flags, 'audience') ?? said.resource;
  return { issuer, clientId, resource: said.resource, audience, scope: scopes.join(' ') };
}

const withToken = 'Bring a token it knows: regen auth login --with-token < token.txt';

function toUnusableFailure(message: string, hint = withToken): Failure {
  return new Failure(message, { code: 'sign_in_unavailable', exit: exitCodes.usage, hint });
}

/** Absent on a service that does not have this extension, or no identity provider. */
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

/** Only over https, where nobody can stand between; on this machine itself plain http will do. */
export function mayBeAsked(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

/** The names of this machine are one. */
export function isSame(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return one === other;
  return normalizeAddress(one) === normalizeAddress(other);
}

function normalizeAddress(address: string): string {
  const url = new URL(address);
  if (isLoopbackHost(url.hostname)) url.hostname = 'localhost';
  return url.href.replace(/\/+$/, '');
}
