import type { TokenEndpointResponse } from 'openid-client';
import { usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { SignInPlace } from './discovery.js';
import { askingIssuer, type Provider } from './provider.js';
import { withinTime } from './timeout.js';

/** Whether the issuer lets people sign in on another device. */
export function knowsDevices({ configuration }: Provider): boolean {
  return configuration.serverMetadata().device_authorization_endpoint !== undefined;
}

/** Signs in with a code that the person types into a browser anywhere (RFC 8628). */
export async function byDevice(
  { output, signal }: { readonly output: Output; readonly signal: AbortSignal },
  provider: Provider,
  { scope, resource }: SignInPlace,
): Promise<TokenEndpointResponse> {
  const { openId, configuration, issuer } = provider;
  if (!knowsDevices(provider)) throw usage(`${issuer} has no sign-in on another device.`);
  const asked = await askingIssuer(openId, issuer, () =>
    openId.initiateDeviceAuthorization(configuration, { scope, resource }),
  );
  const { user_code, verification_uri, verification_uri_complete: whole } = asked;
  await output.tell(
    `Sign in with a browser on any device:\n  ${verification_uri}\nand enter the code ${user_code}`,
  );
  if (whole) await output.tell(`or go there with the code in the address:\n  ${whole}`);
  return withinTime(asked.expires_in * 1000, signal, (either) =>
    askingIssuer(openId, issuer, () =>
      openId.pollDeviceAuthorizationGrant(configuration, asked, { resource }, { signal: either }),
    ),
  );
}
