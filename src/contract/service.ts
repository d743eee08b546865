import { z } from 'zod';
import { operation } from './operation.js';
import { defineObject } from './schema/values.js';
import { StatementKeys } from './statement.js';

const ProtectedResource = defineObject('ProtectedResource', {
  resource: z.string().describe('Address of the service, for which tokens are requested'),
  authorization_servers: z
    .array(z.string())
    .describe('Issuers whose tokens are accepted; sign in at the first'),
  bearer_methods_supported: z
    .array(z.string())
    .describe('How to send a token: only in the Authorization header'),
  scopes_supported: z
    .array(z.string())
    .optional()
    .describe('Scopes to request from the first issuer when signing in'),
  regen_client_id: z.string().optional().describe('Client id of the command line at the first issuer'),
});

export const service = {
  protectedResource: operation('GET /.well-known/oauth-protected-resource', {
    summary: 'Show the identity provider to sign in at (RFC 9728)',
    who: 'anyone',
    opensSignIn: true,
    response: ProtectedResource,
    extension: 'says where to sign in (RFC 9728)',
  }),
  statementKeys: operation('GET /.well-known/regen-keys', {
    summary: 'Show the public keys of the statements that the service signs',
    who: 'anyone',
    response: StatementKeys,
    extension: 'verifies statements on versions and tasks',
  }),
};
