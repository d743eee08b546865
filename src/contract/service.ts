import { z } from 'zod';
import { operation } from './operation.js';

const ProtectedResource = z
  .object({
    resource: z.string().meta({ description: "The service's own address; what a token is asked for" }),
    authorization_servers: z
      .array(z.string())
      .meta({ description: 'Issuers whose tokens are accepted; people sign in at the first' }),
    bearer_methods_supported: z
      .array(z.string())
      .meta({ description: 'How a token is sent: in the Authorization header alone' }),
    scopes_supported: z
      .array(z.string())
      .optional()
      .meta({ description: 'What to ask the first issuer for when signing in' }),
    regen_client_id: z
      .string()
      .optional()
      .meta({ description: 'The public client that the command line is at the first issuer' }),
  })
  .meta({ id: 'ProtectedResource' });

export const service = {
  protectedResource: operation({
    method: 'GET',
    path: '/.well-known/oauth-protected-resource',
    summary: 'Show at which identity provider people sign in (RFC 9728)',
    auth: 'none',
    response: ProtectedResource,
    extension: true,
  }),
};
