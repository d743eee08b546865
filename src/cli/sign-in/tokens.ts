import type { TokenEndpointResponse } from 'openid-client';
import type { Connect } from '../connect/clients.js';
import type { SignIn } from '../connect/credentials.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';
import { isSameAddress, type SignInConfiguration } from './discovery.js';
import { callIssuer, IssuerError, openProvider } from './provider.js';
import { toEndedFailure } from './sign-in-credential.js';

export function toSignIn(
  configuration: SignInConfiguration,
  tokens: TokenEndpointResponse,
  now: number,
): Promise<SignIn> {
  const { issuer, clientId: client_id, resource, audience } = configuration;
  return updateTokens({ issuer, client_id, resource, audience, access_token: '' }, tokens, now);
}

/** The last time that a date can have. */
const MAX_TIME_MS = 8.64e15;

async function updateTokens(signIn: SignIn, tokens: TokenEndpointResponse, now: number): Promise<SignIn> {
  const { access_token, refresh_token, expires_in } = tokens;
  await requireAudience(signIn, access_token);
  const { expires_at: _, ...rest } = signIn;
  return {
    ...rest,
    access_token,
    // Without a new refresh token, the old one stays valid.
    ...(refresh_token && { refresh_token }),
    ...(expires_in !== undefined && {
      expires_at: new Date(Math.min(now + expires_in * 1000, MAX_TIME_MS)).toISOString(),
    }),
  };
}

/**
 * Refuses to store or send a token that another service would accept: a malicious service could name the issuer and
 * client of another one. What belongs to the issuer itself, such as its list of claims, is not another service.
 */
async function requireAudience({ issuer, audience }: SignIn, token: string): Promise<void> {
  const given = audience === undefined ? undefined : await readAudience(token);
  if (audience === undefined || given === undefined) return;
  const named = audience.split(/[\s,]+/);
  const isNamed = (one: string) => named.some((name) => isSameAddress(one, name));
  const others = given.filter((one) => !isNamed(one) && !isWithin(one, issuer));
  if (!given.some(isNamed)) {
    throw new Failure(
      `The token from ${issuer} is for ${given.join(', ')} instead of ${audience}; it was not sent.`,
      {
        code: 'wrong_audience',
        hint: 'If the service operator confirms this audience, pass it with --audience.',
      },
    );
  }
  if (others.length > 0) {
    throw new Failure(`The token from ${issuer} is also for ${others.join(', ')}; it was not sent.`, {
      code: 'wrong_audience',
      hint: `Ask the service operator for tokens of this service alone. If it may act for you there, pass --audience ${shellWord([...named, ...others].join(' '))}.`,
    });
  }
}

const isWithin = (address: string, issuer: string) =>
  address === issuer || address.startsWith(`${issuer.replace(/\/$/, '')}/`);

/** The services that a token is for; undefined if that cannot be read: it is encrypted, no JWT, or does not say. */
export async function readAudience(token: string): Promise<string[] | undefined> {
  const { decodeJwt } = await import('jose');
  try {
    const given = [decodeJwt(token).aud ?? []].flat().map(String);
    return given.length > 0 ? given : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Renews a sign-in with its refresh token.
 * @throws Failure if the issuer refuses
 */
export async function refreshSignIn(connect: Connect, now: () => number, signIn: SignIn): Promise<SignIn> {
  const { issuer, client_id: clientId, refresh_token, resource } = signIn;
  if (!refresh_token) throw toEndedFailure(`The sign-in at ${issuer} has expired.`);
  const { openId, configuration } = await openProvider(connect, { issuer, clientId });
  try {
    const tokens = await callIssuer(openId, issuer, () =>
      openId.refreshTokenGrant(configuration, refresh_token, resource ? { resource } : {}),
    );
    return await updateTokens(signIn, tokens, now());
  } catch (error) {
    if (!(error instanceof IssuerError) || error.facts.exit !== exitCodes.notAllowed) throw error;
    throw toEndedFailure(`The sign-in at ${issuer} has expired: ${error.message}`);
  }
}

/**
 * Revokes the tokens of a sign-in at its issuer (RFC 7009).
 * @returns false if the issuer does not support it
 */
export async function revokeSignIn(connect: Connect, signIn: SignIn): Promise<boolean> {
  const { issuer, client_id: clientId, access_token, refresh_token } = signIn;
  const { openId, configuration } = await openProvider(connect, { issuer, clientId });
  if (!configuration.serverMetadata().revocation_endpoint) return false;
  // Revoking the refresh token also revokes its access tokens; many issuers support nothing else.
  await callIssuer(openId, issuer, () =>
    openId.tokenRevocation(configuration, refresh_token ?? access_token),
  );
  return true;
}
