import { z } from 'zod';
import { AuditPage, AuditQuery } from './audit.js';
import { operation } from './operation.js';
import { DateTime, EmailAddress, NodeId, PublisherId } from './schema/identifiers.js';
import { defineObject, defineRequest, readOnly, text } from './schema/values.js';
import { trust } from './trust.js';

export const PublisherStatus = z.enum(['PublisherStatusActive', 'PublisherStatusBanned']);

// Decided: an owner may do everything on its publisher; a member may read drafts, and publish and update
// versions.
export const Role = z.enum(['owner', 'member']);

export const PublisherMember = defineObject('PublisherMember', {
  id: z.string().optional(),
  role: z.string().optional(),
  user: z
    .object({ email: z.string().optional(), id: z.string().optional(), name: z.string().optional() })
    .optional(),
});

/** A member, or a person who was asked to become one or to own the publisher. */
const Membership = PublisherMember.extend({
  pending: z.boolean().optional().describe('Whether the person has yet to accept; absent for a member'),
  expires_at: DateTime.optional().describe('When the invitation ends if it is not accepted'),
}).meta({ id: 'Membership' });

/** service.md 2.1. Read-only fields are set by the service, and ignored in requests. */
export const Publisher = defineObject('Publisher', {
  createdAt: readOnly(DateTime, 'When the publisher was created'),
  description: text.long.optional().describe('What the publisher does'),
  id: PublisherId.optional().describe('Unique identifier, akin to a username; lowercase'),
  logo: text.url.optional().describe('URL to the logo'),
  members: readOnly(z.array(PublisherMember), 'Members of the publisher; only shown to members and admins'),
  name: text.name.min(1).optional().describe('Display name'),
  source_code_repo: text.url.optional().describe('URL of the source code'),
  status: readOnly(PublisherStatus),
  support: text.line.optional().describe('Where users get support'),
  website: text.url.optional().describe('URL of the website'),
});

const NewPublisher = Publisher.required({ id: true, name: true }).meta({
  id: 'NewPublisher',
  examples: [{ id: 'my-team', name: 'My team' }],
});

export const PersonalAccessToken = defineObject('PersonalAccessToken', {
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  token: z
    .string()
    .describe('The whole token when it was just created, otherwise its first 4 characters and a mask'),
  nodes: z
    .array(z.string())
    .optional()
    .describe('Ids of the only nodes that it may be used for; absent if it is for all'),
  created_by: z.string().optional().describe('Who created it: a user id'),
  created_by_email: z.string().optional().describe('Email address of that user, if known'),
  created_at: DateTime,
  expires_at: DateTime.optional().describe('When the token expires'),
  last_used_at: DateTime.optional(),
});

const Invitation = defineRequest('Invitation', {
  email: EmailAddress.describe('Email address of the person to invite'),
  role: Role.describe(
    'owner: may do everything; member: may read drafts and update versions, and publish with a token that an owner creates',
  ),
});

const ReceivedInvitation = defineObject('ReceivedInvitation', {
  publisher_id: z.string(),
  publisher_name: z.string(),
  role: Role,
  invited_by: z.string().optional().describe('Email address of who sent it, if known'),
  created_at: DateTime,
  expires_at: DateTime,
});

export const MemberRole = defineRequest('MemberRole', { role: Role });

const NewPersonalAccessToken = defineRequest('NewPersonalAccessToken', {
  name: z.string().min(1).max(100).describe('What the token is for'),
  description: z.string().max(1000).optional().describe('Notes about the token'),
  expires_at: DateTime.max(64)
    .optional()
    .describe('When the token expires; default: a year after it is created'),
  nodes: z
    .array(NodeId)
    .min(1)
    .max(100)
    .optional()
    .describe('Ids of the only nodes that it may be used for; default: all of the publisher'),
});

export const publisher = {
  create: operation('POST /publishers', {
    summary: 'Create a publisher and become its first owner',
    who: 'person',
    status: 201,
    body: NewPublisher,
    response: Publisher,
    extension: 'nodes need a publisher to be published under',
  }),
  get: operation('GET /publishers/{publisherId}', {
    summary: 'Show a publisher',
    who: 'anyone',
    response: Publisher,
    extension: 'reads what 4.3.1 updates',
  }),
  list: operation('GET /users/publishers', {
    summary: 'List the publishers you belong to',
    who: 'bearer',
    response: z.array(Publisher),
    extension: 'finds the publishers that you belong to',
  }),
  update: operation('PUT /publishers/{publisherId}', {
    summary: 'Update a publisher',
    who: 'owner writes',
    body: Publisher,
    response: Publisher,
  }),
  validate: operation('GET /publishers/validate', {
    summary: 'Say whether a publisher id is free',
    who: 'anyone',
    query: z.object({ username: z.string().min(1).max(200).describe('The id to try') }),
    response: z.object({ isAvailable: z.boolean() }),
    extension: 'says whether an id is free before a form is sent',
  }),
  delete: operation('DELETE /publishers/{publisherId}', {
    summary: 'Delete a publisher that never had a node',
    who: 'owner writes',
    status: 204,
    destroys: {
      action: 'Delete publisher {publisherId}',
      loss: 'Its members and tokens are deleted with it.',
    },
    extension: 'undoes the creation of a publisher',
  }),
  // Decided: people become members and owners by accepting it. An invitation is for a verified email
  // address, and its answer is the same whether or not the address has an account.
  invitations: operation('GET /users/invitations', {
    summary: 'List the publishers that you are invited to, newest first, at most 100',
    who: 'person',
    response: z.array(ReceivedInvitation),
    extension: 'an invitation has to be accepted',
  }),
  accept: operation('POST /users/invitations/{publisherId}/accept', {
    summary: 'Accept the invitation to a publisher',
    who: 'person',
    response: PublisherMember,
    extension: 'an invitation has to be accepted',
  }),
  decline: operation('POST /users/invitations/{publisherId}/decline', {
    summary: 'Decline the invitation to a publisher',
    who: 'person',
    status: 204,
    extension: 'an invitation has to be accepted',
  }),
  audit: operation('GET /publishers/{publisherId}/audit', {
    summary: 'List who changed what of a publisher, newest first',
    who: 'owner reads',
    query: AuditQuery,
    response: AuditPage,
    extension: 'who did what on a publisher',
  }),
  token: {
    create: operation('POST /publishers/{publisherId}/tokens', {
      summary: 'Create a personal access token for publishing',
      who: 'owner writes',
      status: 201,
      body: NewPersonalAccessToken,
      response: PersonalAccessToken,
      extension: 'publishing needs a personal access token',
      secret: true,
    }),
    list: operation('GET /publishers/{publisherId}/tokens', {
      summary: "List a publisher's personal access tokens, masked",
      who: 'owner reads',
      response: z.array(PersonalAccessToken),
      extension: 'publishing needs a personal access token',
    }),
    revoke: operation('DELETE /publishers/{publisherId}/tokens/{tokenId}', {
      summary: 'Revoke a personal access token',
      who: 'owner writes',
      status: 204,
      destroys: {
        action: 'Revoke token {tokenId} of {publisherId}',
        loss: 'Scripts that publish with it stop working.',
      },
      extension: 'publishing needs a personal access token',
    }),
  },
  trust,
  member: {
    add: operation('POST /publishers/{publisherId}/members', {
      summary: 'Invite a person by email address, who becomes a member by accepting within 30 days',
      who: 'owner writes',
      body: Invitation,
      response: Membership,
      extension: 'a publisher has members',
    }),
    list: operation('GET /publishers/{publisherId}/members', {
      summary: "List a publisher's members, then the people who have yet to accept",
      who: 'member reads',
      response: z.array(Membership),
      extension: 'a publisher has members',
    }),
    set: operation('PUT /publishers/{publisherId}/members/{userId}', {
      summary: "Change a member's role; a member becomes an owner by accepting it",
      who: 'owner writes',
      body: MemberRole,
      response: Membership,
      extension: 'a publisher has members',
    }),
    remove: operation('DELETE /publishers/{publisherId}/members/{userId}', {
      summary: 'Remove a member or withdraw an invitation; the last owner cannot be removed',
      who: 'owner writes',
      status: 204,
      destroys: {
        action: 'Remove member {userId} of {publisherId}',
        loss: 'The personal access tokens that they created stop working, and the trusts that they added end.',
      },
      extension: 'a publisher has members',
    }),
  },
};
