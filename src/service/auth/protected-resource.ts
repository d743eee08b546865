import type { Context } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { Refused } from '../refused.js';

const path = '/.well-known/oauth-protected-resource';

/** RFC 9728: where a client finds the issuer and who it is there. */
export async function protectedResource({
  context,
}: Call<'service.protectedResource'>): Promise<Answer<'service.protectedResource'>> {
  const { issuers } = context.configuration;
  const [first] = issuers;
  if (!first) {
    throw new Refused(
      'not_found',
      'This service names no identity provider; sign in with a token of its own.',
    );
  }
  return {
    resource: context.baseUrl(),
    authorization_servers: issuers.map(({ issuer }) => issuer),
    bearer_methods_supported: ['header'],
    scopes_supported: first.scopes,
    regen_client_id: first.clientId,
  };
}

/** What a 401 answers in `WWW-Authenticate`: where to read how to sign in, if that is said anywhere. */
export function challenge({ configuration, baseUrl }: Context): string {
  return configuration.issuers.length > 0 ? `Bearer resource_metadata="${baseUrl()}${path}"` : 'Bearer';
}
