import { z } from 'zod';
import { operation } from './operation.js';

const ProtectedResource = z
  .object({
    resource: z.string().meta({ description: 'Address of the service, for which tokens are requested' }),
    authorization_servers: z
      .array(z.string())
      .meta({ description: 'Issuers whose tokens are accepted; sign in at the first' }),
    bearer_methods_supported: z
      .array(z.string())
      .meta({ description: 'How to send a token: only in the Authorization header' }),
    scopes_supported: z
      .array(z.string())
      .optional()
      .meta({ description: 'Scopes to request from the first issuer when signing in' }),
    regen_client_id: z
      .string()
      .optional()
      .meta({ description: 'Client id of the command line at the first issuer' }),
  })
  .meta({ id: 'ProtectedResource' });

export const service = {
  protectedResource: operation({
    method: 'GET',
    path: '/.well-known/oauth-protected-resource',
    summary: 'Show the identity provider to sign in at (RFC 9728)',
    who: 'anyone',
    response: ProtectedResource,
    extension: 'says where to sign in (RFC 9728)',
  }),
};
