import { decodeJwt } from 'jose';
import type { TokenEndpointResponse } from 'openid-client';
import type { FlagValues } from '../command/command.js';
import type { Connect } from '../connect/clients.js';
import type { SignIn } from '../connect/credentials.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { isSame, type SignInPlace } from './discovery.js';
import { signInHint } from './hint.js';
import { toEndedFailure } from './kept-sign-in.js';
import { askingIssuer, openProvider, Refusal } from './provider.js';

/** What an issuer gave, as it is kept. */
export function toSignIn(place: SignInPlace, tokens: TokenEndpointResponse, now: number): SignIn {
  const { issuer, clientId: client_id, resource, audience } = place;
  return withTokens({ issuer, client_id, resource, audience, access_token: '' }, tokens, now);
}

function withTokens(signIn: SignIn, tokens: TokenEndpointResponse, now: number): SignIn {
  const { access_token, refresh_token, expires_in } = tokens;
  requireAudience(signIn, access_token);
  const { expires_at: _, ...rest } = signIn;
  return {
    ...rest,
    access_token,
    // One that is not turned over stays good.
    ...(refresh_token && { refresh_token }),
    ...(expires_in !== undefined && { expires_at: new Date(now + expires_in * 1000).toISOString() }),
  };
}

/**
 * Refuses to keep or send a token that is good at another service: a hostile service may name the issuer and the
 * client of another one. Tokens that are not JWTs say nothing of their audience.
 */
function requireAudience({ issuer, audience }: SignIn, token: string): void {
  const given = audience === undefined ? undefined : readAudience(token);
  if (audience === undefined || given === undefined || given.some((one) => isSame(one, audience))) return;
  throw new Failure(
    `The token of ${issuer} is for ${given.join(', ')}, not for ${audience}; it was not sent.`,
    {
      code: 'wrong_audience',
      exit: exitCodes.notAllowed,
      hint: 'If the people of the service confirm that audience, give it with --audience.',
    },
  );
}

function readAudience(token: string): string[] | undefined {
  try {
    const { aud } = decodeJwt(token);
    return aud === undefined ? undefined : [aud].flat();
  } catch {
    return undefined;
  }
}

interface RefreshContext {
  readonly connect: Connect;
  readonly flags: FlagValues;
  readonly now: () => number;
}

/**
 * Renews a sign-in with its refresh token.
 * @throws Failure where the issuer refuses
 */
export async function refreshSignIn(
  { connect, flags, now }: RefreshContext,
  signIn: SignIn,
): Promise<SignIn> {
  const { issuer, client_id: clientId, refresh_token, resource } = signIn;
  const hint = signInHint(flags);
  if (!refresh_token) throw toEndedFailure(`The sign-in at ${issuer} has ended.`, hint);
  const { openId, configuration } = await openProvider(connect, { issuer, clientId });
  try {
    const tokens = await askingIssuer(openId, issuer, () =>
      openId.refreshTokenGrant(configuration, refresh_token, resource ? { resource } : {}),
    );
    return withTokens(signIn, tokens, now());
  } catch (error) {
    if (!(error instanceof Refusal) || error.facts.exit !== exitCodes.notAllowed) throw error;
    throw toEndedFailure(`The sign-in at ${issuer} has ended: ${error.message}`, hint);
  }
}

/**
 * Ends a sign-in at its issuer (RFC 7009), so that nobody can use its tokens any more.
 * @returns false where the issuer has no way to do so
 */
export async function revokeSignIn(connect: Connect, signIn: SignIn): Promise<boolean> {
  const { issuer, client_id: clientId, access_token, refresh_token } = signIn;
  const { openId, configuration } = await openProvider(connect, { issuer, clientId });
  if (!configuration.serverMetadata().revocation_endpoint) return false;
  // With the refresh token end the access tokens that came from it; many issuers revoke no other.
  await askingIssuer(openId, issuer, () =>
    openId.tokenRevocation(configuration, refresh_token ?? access_token),
  );
  return true;
}
