import type { TokenEndpointResponse } from 'openid-client';
import { usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import { mayBeAsked, type SignInPlace } from './discovery.js';
import { openDoor } from './loopback.js';
import { hasBrowser, openBrowser } from './opener.js';
import { askingIssuer, type Provider } from './provider.js';
import { withinTime } from './timeout.js';

/** How long a person may take in the browser. */
const patienceMs = 5 * 60_000;

interface BrowserContext {
  readonly output: Output;
  readonly system: System;
  readonly signal: AbortSignal;
}

/** Signs in through a browser that comes back to a port of this machine (RFC 8252, with PKCE). */
export async function byBrowser(
  { output, system, signal }: BrowserContext,
  { openId, configuration, issuer }: Provider,
  { scope, resource }: SignInPlace,
): Promise<TokenEndpointResponse> {
  const pkceCodeVerifier = openId.randomPKCECodeVerifier();
  const expectedState = openId.randomState();
  const identity = scope.split(' ').includes('openid');
  const expectedNonce = identity ? openId.randomNonce() : undefined;
  const { authorization_endpoint: asked = '' } = configuration.serverMetadata();
  if (!mayBeAsked(asked)) throw usage(`${issuer} sends browsers to '${asked}', which is no https address.`);
  const door = await openDoor(expectedState);
  const address = openId.buildAuthorizationUrl(configuration, {
    redirect_uri: door.address,
    scope,
    resource,
    state: expectedState,
    code_challenge: await openId.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...(expectedNonce && { nonce: expectedNonce }),
    // Without it an issuer may not give what one stays signed in with.
    ...(scope.split(' ').includes('offline_access') && { prompt: 'consent' }),
  }).href;
  try {
    await output.tell(`Sign in with your browser:\n  ${address}`);
    if (hasBrowser(system)) openBrowser(system, address);
    const back = await withinTime(patienceMs, signal, (either) => door.answered(either));
    const tokens = await askingIssuer(openId, issuer, () =>
      openId.authorizationCodeGrant(
        configuration,
        back,
        { pkceCodeVerifier, expectedState, ...(expectedNonce && { expectedNonce }) },
        { resource },
      ),
    );
    await door.close('You are signed in', 'Go on in the terminal; this page can be closed.');
    return tokens;
  } catch (error) {
    await door.close('That did not work', 'The terminal says why; this page can be closed.');
    throw error;
  }
}
