import { z } from 'zod';
import { definePage, Paging } from './paging.js';
import { DateTime } from './schema/identifiers.js';
import { defineObject, filter } from './schema/values.js';

/** Who did something. */
export const by = {
  by: z.string().describe('Who did it: a user id, or `service`'),
  by_email: z.string().optional().describe('Email address of that user, if known'),
};

const AuditEntry = defineObject('AuditEntry', {
  at: DateTime,
  ...by,
  token_id: z
    .string()
    .optional()
    .describe('Id of the admin token, personal access token or API key that it was done with, if it was one'),
  action: z.string().meta({ examples: ['node.status', 'publisher.update', 'admin_token.create'] }),
  kind: z.string().describe('What was changed: publisher, node, version, host_node, …'),
  id: z.string().describe('Id of what was changed'),
  node_id: z.string().optional().describe('For a version: its node id'),
  version: z.string().optional().describe('For a version: its number'),
  status: z.string().optional().describe('New status or policy'),
  reason: z.string().optional(),
});

const auditKinds = [
  ...(['publisher', 'node', 'version', 'host_node', 'member', 'token', 'trust'] as const),
  ...(['admin_token', 'api_key', 'key', 'task', 'user'] as const),
] as const;

export type AuditKind = (typeof auditKinds)[number];

export const AuditQuery = Paging.extend({
  kind: z.enum(auditKinds).optional().describe('Only changes of this kind of thing'),
  by: filter(200, 'Only what this user changed: a user id, or `service`'),
});

export const AuditPage = definePage({ events: z.array(AuditEntry) });
