import { z } from 'zod';
import { HostNode, HostNodePolicy } from './host-nodes.js';
import { Node, NodeStatus } from './node.js';
import { NodeVersion, NodeVersionStatus } from './node-version.js';
import { operation } from './operation.js';
import { Paging } from './paging.js';
import { Publisher, PublisherStatus } from './publisher.js';
import { DateTime } from './rules.js';

const AdminToken = z
  .object({
    expires_at: DateTime.meta({ description: 'An hour after it was made' }),
    token: z.string().meta({ description: 'Short-lived JWT for the operations under /admin' }),
  })
  .meta({ id: 'AdminToken' });

const by = {
  by: z.string().meta({ description: 'Who caused it: a user id, or `service`' }),
  by_email: z.string().optional().meta({ description: 'The address of that user, where it is known' }),
};

const ValidAdminToken = z
  .object({ jti: z.string(), ...by, created_at: DateTime, expires_at: DateTime })
  .meta({ id: 'ValidAdminToken' });

const AuditEntry = z
  .object({
    at: DateTime,
    ...by,
    action: z.string().meta({ examples: ['node.status', 'publisher.update', 'admin_token.create'] }),
    kind: z.string().meta({ description: 'What was changed: publisher, node, version, host_node, …' }),
    id: z.string().meta({ description: 'The id of what was changed' }),
    node_id: z.string().optional().meta({ description: 'Of a version: its node' }),
    version: z.string().optional().meta({ description: 'Of a version: its number' }),
    status: z.string().optional().meta({ description: 'The status or policy it was given' }),
    reason: z.string().optional(),
  })
  .meta({ id: 'AuditEntry' });

// Decided: a reason holds at most 10,000 characters; it comes back with each refusal and each answer.
const reason = z.string().max(10_000);
const tagsAdmin = z
  .array(z.string())
  .optional()
  .meta({ description: 'Admin-only tags for security warnings and admin metadata' });

const NodeVerdict = z
  .strictObject({
    status: NodeStatus.optional().meta({ description: 'NodeStatusActive or NodeStatusBanned' }),
    status_detail: reason.optional().meta({ description: "Why; shown to the publisher's members" }),
    tags_admin: tagsAdmin,
    search_ranking: z
      .int32()
      .optional()
      .meta({ description: 'Higher ones come first in search results; 0 where nobody set it' }),
    preempted_host_node_names: z
      .array(z.string())
      .optional()
      .meta({ description: 'Host node names preempted by this node' }),
  })
  .meta({ id: 'NodeVerdict' });

// Decided: tags alone may be set, so that they do not undo a status set meanwhile; anything else needs the status.
const VersionVerdict = z
  .strictObject({
    status: NodeVersionStatus.optional().meta({
      description: 'May be absent where only tags_admin is given',
    }),
    status_reason: reason.optional().meta({ description: 'Why' }),
    tags_admin: tagsAdmin,
  })
  .refine((verdict) => verdict.status !== undefined || isTagsAlone(verdict), {
    path: ['status'],
    error: 'is required',
  })
  .meta({ id: 'VersionVerdict' });

function isTagsAlone(verdict: { tags_admin?: unknown; status_reason?: unknown }): boolean {
  return verdict.tags_admin !== undefined && verdict.status_reason === undefined;
}

const PublisherVerdict = z
  .strictObject({
    status: PublisherStatus,
    reason: reason.optional().meta({ description: "Why; shown to the publisher's members" }),
  })
  .meta({ id: 'PublisherVerdict' });

export const admin = {
  generateToken: operation({
    method: 'POST',
    path: '/admin/generate-token',
    summary: 'Make an admin token, valid for an hour',
    auth: 'bearer',
    response: AdminToken,
    secret: true,
  }),
  node: {
    set: operation({
      method: 'PUT',
      path: '/admin/nodes/{nodeId}',
      summary: "Set a node's status, ranking and admin tags",
      auth: 'bearer',
      body: NodeVerdict,
      response: Node,
      extension: true,
    }),
  },
  version: {
    setStatus: operation({
      method: 'PUT',
      path: '/admin/nodes/{nodeId}/versions/{version}',
      summary: "Set a version's status and admin tags",
      auth: 'bearer',
      body: VersionVerdict,
      response: NodeVersion,
      extension: true,
    }),
  },
  hostNode: {
    setPolicy: operation({
      method: 'PUT',
      path: '/admin/nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName}',
      summary: 'Set the policy of a node definition',
      auth: 'bearer',
      body: z.strictObject({ policy: HostNodePolicy }).meta({ id: 'PolicyVerdict' }),
      response: HostNode,
      extension: true,
    }),
  },
  publisher: {
    set: operation({
      method: 'PUT',
      path: '/admin/publishers/{publisherId}',
      summary: 'Ban a publisher, or lift the ban',
      auth: 'bearer',
      body: PublisherVerdict,
      response: Publisher,
      extension: true,
    }),
  },
  audit: operation({
    method: 'GET',
    path: '/admin/audit',
    summary: 'List who changed what, newest first',
    auth: 'bearer',
    query: Paging,
    response: z.object({
      limit: z.int(),
      events: z.array(AuditEntry),
      page: z.int(),
      total: z.int(),
      totalPages: z.int(),
    }),
    extension: true,
  }),
  token: {
    list: operation({
      method: 'GET',
      path: '/admin/tokens',
      summary: 'List the admin tokens that are valid now',
      auth: 'bearer',
      response: z.array(ValidAdminToken),
      extension: true,
    }),
    revoke: operation({
      method: 'DELETE',
      path: '/admin/tokens/{jti}',
      summary: 'Revoke an admin token',
      auth: 'bearer',
      status: 204,
      extension: true,
    }),
  },
};
