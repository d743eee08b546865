import { z } from 'zod';
import { operation } from './operation.js';
import { Role } from './publisher.js';
import { DateTime } from './schema/identifiers.js';
import { choice, defineObject, defineRequest } from './schema/values.js';
import { Usage, UsageQuery } from './usage.js';

const MeCredential = z.object({
  kind: choice('identity_provider service owner personal_access_token admin_token api_key'),
  expires_at: DateTime.optional(),
  nodes: z
    .array(z.string())
    .optional()
    .describe('Ids of the only nodes that it may be used for; absent if it is not limited'),
  operations: z
    .array(z.string())
    .optional()
    .describe('The only operations that an API key may start; absent if it is not limited'),
});

export type MeCredential = z.output<typeof MeCredential>;

const Me = defineObject('Me', {
  id: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  admin: z.boolean(),
  publishers: z.array(z.object({ id: z.string(), role: Role })),
  credential: MeCredential,
});

const PageLink = defineObject('PageLink', {
  url: z.string().describe('Opens the page and signs in, once'),
  expires_at: DateTime,
});

export const user = {
  openPage: operation('POST /users/me/page-link', {
    summary: 'Create a link that signs in to the pages of the service, once and within a minute',
    who: 'person',
    secret: true,
    body: defineRequest('PagePath', {
      path: z.string().min(1).max(2048).describe('Path of the page to open, such as /web/tasks'),
    }),
    response: PageLink,
    extension: 'signs in to pages without a password',
  }),
  me: operation('GET /users/me', {
    summary: 'Show who the credential belongs to and what it may do',
    who: 'bearer',
    response: Me,
    extension: 'says who a credential belongs to',
  }),
  usage: operation('GET /users/usage', {
    summary: 'Show what your tasks cost, by day, operation, model and key',
    tool: true,
    who: 'person',
    query: UsageQuery,
    response: Usage,
    extension: 'says what was spent',
  }),
};
