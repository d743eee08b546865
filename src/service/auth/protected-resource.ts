import type { Handlers, Read } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';

const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** RFC 9728: tells a client where to sign in and with which client id. */
const getProtectedResource: Read<'service.protectedResource'> = async ({ context }) => {
  const { issuers } = context.configuration;
  const [first] = issuers;
  if (!first) {
    throw new Refused('not_found', 'This service has no identity provider; use a token that it issued.');
  }
  return {
    resource: context.baseUrl(),
    authorization_servers: issuers.map(({ issuer }) => issuer),
    bearer_methods_supported: ['header'],
    scopes_supported: first.scopes,
    regen_client_id: first.clientId,
  };
};

/** The `WWW-Authenticate` header of a 401: where to read how to sign in, if there is an identity provider. */
export function formatChallenge({
  configuration,
  baseUrl,
}: Pick<Context, 'configuration' | 'baseUrl'>): string {
  return configuration.issuers.length > 0
    ? `Bearer resource_metadata="${baseUrl()}${METADATA_PATH}"`
    : 'Bearer';
}

export const protectedResourceHandlers = {
  'service.protectedResource': { read: getProtectedResource },
} satisfies Partial<Handlers>;
