import { z } from 'zod';
import { AuditPage, AuditQuery, by } from './audit.js';
import { HostNode, HostNodePolicy } from './host-nodes.js';
import { Node, NodeStatus } from './node.js';
import { NodeVersion, NodeVersionStatus } from './node-version.js';
import { operation } from './operation.js';
import { definePage, HostNodePaging, Paging } from './paging.js';
import { MemberRole, Publisher, PublisherMember, PublisherStatus } from './publisher.js';
import { explain } from './schema/explain.js';
import { DateTime } from './schema/identifiers.js';
import { say } from './schema/message.js';
import { defineObject, defineRequest, filter, textList } from './schema/values.js';
import { ListedUser, NewUserBudget, Usage, UsageQuery, UserBudget } from './usage.js';

const AdminToken = defineObject('AdminToken', {
  expires_at: DateTime.describe('When the token expires: an hour after it was issued'),
  token: z.string().describe('Short-lived JWT admin token, for the operations under /admin'),
});

const ValidAdminToken = defineObject('ValidAdminToken', {
  jti: z.string().describe('Token id'),
  ...by,
  created_at: DateTime,
  expires_at: DateTime,
});

// Decided: a reason has at most 10,000 characters, because it is part of every refusal and answer.
const reason = z.string().max(10_000);
const tagsAdmin = textList('Admin-only tags for security warnings and admin metadata');

const NodeVerdict = defineRequest('NodeVerdict', {
  status: NodeStatus.optional().describe('Active or Banned'),
  status_detail: reason.optional().describe("Reason, shown to the publisher's members"),
  tags_admin: tagsAdmin,
  search_ranking: z.int32().optional().describe('Higher values come first in search results; 0 if not set'),
  preempted_host_node_names: textList('Host node names preempted by this node'),
});

// Decided: tags may be set alone, so that they do not undo a status set in between; anything else needs the
// status.
const VersionVerdict = z
  .strictObject({
    status: explain(NodeVersionStatus.optional(), say`Optional if only ${{ field: 'tags_admin' }} is given`),
    status_reason: reason.optional().describe('Reason for the status'),
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

const PublisherVerdict = defineRequest('PublisherVerdict', {
  status: PublisherStatus,
  reason: reason.optional().describe("Reason, shown to its owners in the publisher's audit"),
});

export const admin = {
  generateToken: operation('POST /admin/generate-token', {
    summary: 'Issue an admin token that is valid for an hour',
    who: 'admin in person',
    response: AdminToken,
    secret: true,
  }),
  node: {
    set: operation('PUT /admin/nodes/{nodeId}', {
      summary: "Set a node's status, ranking and admin tags",
      who: 'admin',
      body: NodeVerdict,
      response: Node,
      extension: 'status NodeStatusBanned and admin tags are shown',
    }),
  },
  review: operation('GET /versions', {
    summary: 'List the versions of all nodes that wait for a verdict, oldest first',
    who: 'admin',
    query: HostNodePaging.extend({
      nodeId: filter(1024, 'Only versions of this node'),
      statuses: z
        .array(NodeVersionStatus)
        .min(1)
        .max(10)
        .default(['NodeVersionStatusPending', 'NodeVersionStatusFlagged'])
        .describe('Only versions with these statuses'),
    }),
    response: z.object({
      versions: z.array(NodeVersion),
      total: z.int(),
      page: z.int(),
      pageSize: z.int(),
      totalPages: z.int(),
    }),
    extension: 'a version may wait for the verdict of an admin',
  }),
  version: {
    setStatus: operation('PUT /admin/nodes/{nodeId}/versions/{version}', {
      summary: "Set a version's status and admin tags",
      who: 'admin',
      body: VersionVerdict,
      response: NodeVersion,
      extension: 'status NodeVersionStatusBanned is shown',
    }),
  },
  hostNode: {
    setPolicy: operation('PUT /admin/nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName}', {
      summary: 'Set the policy of a node definition',
      who: 'admin',
      body: defineRequest('PolicyVerdict', { policy: HostNodePolicy }),
      response: HostNode,
      extension: 'policy HostNodePolicyBanned is shown',
    }),
  },
  publisher: {
    set: operation('PUT /admin/publishers/{publisherId}', {
      summary: 'Ban a publisher, or lift the ban',
      who: 'admin',
      body: PublisherVerdict,
      response: Publisher,
      extension: 'status PublisherStatusBanned is shown',
    }),
    member: {
      set: operation('PUT /admin/publishers/{publisherId}/members/{userId}', {
        summary: 'Make a user a member or an owner of a publisher',
        who: 'admin',
        body: MemberRole,
        response: PublisherMember,
        extension: 'a publisher may have lost its owners',
      }),
      remove: operation('DELETE /admin/publishers/{publisherId}/members/{userId}', {
        summary: 'Remove a member of a publisher, also its last owner, or withdraw an invitation',
        who: 'admin',
        status: 204,
        destroys: {
          action: 'Remove member {userId} of {publisherId}',
          loss: 'The personal access tokens that they created stop working.',
        },
        extension: 'a person may own a publisher that they want no part in',
      }),
    },
  },
  user: {
    list: operation('GET /admin/users', {
      summary: 'List the users of the service, and find one by email address or name',
      who: 'admin',
      query: Paging.extend({ search: filter(200, 'Only users whose email address or name contains this') }),
      response: definePage({ users: z.array(ListedUser) }),
      extension: 'budgets and roles need the id of a user',
    }),
    set: operation('PUT /admin/users/{userId}', {
      summary: 'Set the credits that a user may spend per month',
      who: 'admin',
      body: NewUserBudget,
      response: UserBudget,
      extension: 'limits what a user spends',
    }),
  },
  usage: operation('GET /admin/usage', {
    summary: 'Show what the tasks of all users cost, by user, key, model and day',
    who: 'admin',
    query: UsageQuery,
    response: Usage,
    extension: 'says what was spent',
  }),
  audit: operation('GET /admin/audit', {
    summary: 'List who changed what, newest first',
    who: 'admin',
    query: AuditQuery,
    response: AuditPage,
    extension: 'who did what',
  }),
  token: {
    list: operation('GET /admin/tokens', {
      summary: 'List the valid admin tokens',
      who: 'admin',
      response: z.array(ValidAdminToken),
      extension: 'admin tokens that are still valid',
    }),
    revoke: operation('DELETE /admin/tokens/{jti}', {
      summary: 'Revoke an admin token',
      who: 'admin',
      status: 204,
      destroys: { action: 'Revoke admin token {jti}', loss: 'Commands that use it stop working.' },
      extension: 'ending an admin token early',
    }),
  },
};
