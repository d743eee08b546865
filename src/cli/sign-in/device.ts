import type { TokenEndpointResponse } from 'openid-client';
import type { CommandContext } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import type { SignInConfiguration } from './discovery.js';
import { callIssuer, type Provider, waitForUser } from './provider.js';

export function supportsDevices({ configuration }: Provider): boolean {
  return configuration.serverMetadata().device_authorization_endpoint !== undefined;
}

/** Signs in with a code that the user enters in a browser on any device (RFC 8628). */
export async function signInByDevice(
  { output, signal }: Pick<CommandContext, 'output' | 'signal'>,
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
    `Sign in with a browser on any device:\n  ${verification_uri}\nand enter the code ${user_code}`,
  );
  if (completeUri) await output.tell(`or open the address that includes the code:\n  ${completeUri}`);
  return waitForUser(authorization.expires_in * 1000, signal, (either) =>
    callIssuer(openId, issuer, () =>
      openId.pollDeviceAuthorizationGrant(configuration, authorization, { resource }, { signal: either }),
    ),
  );
}
