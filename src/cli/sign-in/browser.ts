import type { TokenEndpointResponse } from 'openid-client';
import type { Needs } from '../connect/context.js';
import { formatDuration } from '../terminal/duration.js';
import { usage } from '../terminal/failure.js';
import { findAddressProblem, type SignInConfiguration } from './discovery.js';
import { openCallback } from './loopback.js';
import { hasBrowser, openBrowser } from './opener.js';
import { callIssuer, type Provider, waitForUser } from './provider.js';

const SIGN_IN_TIMEOUT_MS = 5 * 60_000;

/** Signs in through a browser that returns to a port of this machine (RFC 8252, with PKCE). */
export async function signInByBrowser(
  { output, system, signal }: Needs<'output' | 'system' | 'signal'>,
  { openId, configuration, issuer }: Provider,
  { scope, resource }: SignInConfiguration,
): Promise<TokenEndpointResponse> {
  const pkceCodeVerifier = openId.randomPKCECodeVerifier();
  const expectedState = openId.randomState();
  const wantsIdentity = scope.split(' ').includes('openid');
  const expectedNonce = wantsIdentity ? openId.randomNonce() : undefined;
  const { authorization_endpoint: endpoint = '' } = configuration.serverMetadata();
  const problem = findAddressProblem(endpoint, issuer);
  if (problem) throw usage(`${issuer} redirects browsers to '${endpoint}', which ${problem}.`);
  const callback = await openCallback(expectedState);
  const address = openId.buildAuthorizationUrl(configuration, {
    redirect_uri: callback.address,
    scope,
    resource,
    state: expectedState,
    code_challenge: await openId.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...(expectedNonce && { nonce: expectedNonce }),
    // Without it, an issuer may not return a refresh token.
    ...(scope.split(' ').includes('offline_access') && { prompt: 'consent' }),
  }).href;
  try {
    await output.tell(
      `Sign in with your browser, within ${formatDuration(SIGN_IN_TIMEOUT_MS)}:`,
      `  ${address}`,
    );
    if (hasBrowser(system)) openBrowser(system, address);
    const redirect = await waitForUser(SIGN_IN_TIMEOUT_MS, signal, (either) =>
      callback.waitForRedirect(either),
    );
    const tokens = await callIssuer(openId, issuer, () =>
      openId.authorizationCodeGrant(
        configuration,
        redirect,
        { pkceCodeVerifier, expectedState, ...(expectedNonce && { expectedNonce }) },
        { resource },
      ),
    );
    await callback.close('You are signed in', 'Return to the terminal. You can close this page.');
    return tokens;
  } catch (error) {
    await callback.close('Sign-in failed', 'See the terminal for the reason. You can close this page.');
    throw error;
  }
}

export function supportsDevices({ configuration }: Provider): boolean {
  return configuration.serverMetadata().device_authorization_endpoint !== undefined;
}

/** Signs in with a code that the user enters in a browser on any device (RFC 8628). */
export async function signInByDevice(
  { output, signal }: Needs<'output' | 'signal'>,
  provider: Provider,
  { scope, resource }: SignInConfiguration,
): Promise<TokenEndpointResponse> {
  const { openId, configuration, issuer } = provider;
  if (!supportsDevices(provider)) throw usage(`${issuer} does not support sign-in on another device.`);
  const authorization = await callIssuer(openId, issuer, () =>
    openId.initiateDeviceAuthorization(configuration, { scope, resource }),
  );
  const { user_code, verification_uri, verification_uri_complete: completeUri } = authorization;
  await output.tell(
    `Sign in with a browser on any device, within ${formatDuration(authorization.expires_in * 1000)}:`,
    `  ${verification_uri}`,
    `and enter the code ${user_code}`,
  );
  if (completeUri) await output.tell('or open the address that includes the code:', `  ${completeUri}`);
  return waitForUser(authorization.expires_in * 1000, signal, (either) =>
    callIssuer(openId, issuer, () =>
      openId.pollDeviceAuthorizationGrant(configuration, authorization, { resource }, { signal: either }),
    ),
  );
}
