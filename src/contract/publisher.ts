import { z } from 'zod';
import { operation } from './operation.js';
import { DateTime, EmailAddress, PublisherId } from './rules.js';

export const PublisherStatus = z.enum(['PublisherStatusActive', 'PublisherStatusBanned']);

// Decided: an owner does everything on its publisher; a member reads drafts, publishes and updates versions.
export const Role = z.enum(['owner', 'member']);

export const PublisherMember = z
  .object({
    id: z.string().optional(),
    role: z.string().optional(),
    user: z
      .object({ email: z.string().optional(), id: z.string().optional(), name: z.string().optional() })
      .optional(),
  })
  .meta({ id: 'PublisherMember' });

/** service.md 2.1. Fields marked read-only are set by the service and ignored in requests. */
export const Publisher = z
  .object({
    createdAt: DateTime.optional().meta({ description: 'When the publisher was created', readOnly: true }),
    description: z.string().optional().meta({ description: 'What the publisher does' }),
    id: PublisherId.optional().meta({ description: 'Unique identifier, akin to a username; lowercase' }),
    logo: z.string().optional().meta({ description: 'URL to the logo' }),
    members: z
      .array(PublisherMember)
      .optional()
      .meta({ description: 'Members of the publisher; shown to members and admins', readOnly: true }),
    name: z.string().min(1).optional().meta({ description: 'Display name' }),
    source_code_repo: z.string().optional().meta({ description: 'URL of the source code' }),
    status: PublisherStatus.optional().meta({ readOnly: true }),
    support: z.string().optional().meta({ description: 'Where users find support' }),
    website: z.string().optional().meta({ description: 'URL of the website' }),
  })
  .meta({ id: 'Publisher' });

const NewPublisher = Publisher.required({ id: true, name: true }).meta({ id: 'NewPublisher' });

export const PersonalAccessToken = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    token: z
      .string()
      .meta({ description: 'Whole where it was just made, else its first 4 characters and a mask' }),
    created_at: DateTime,
    expires_at: DateTime.optional().meta({ description: 'Absent: it does not expire' }),
    last_used_at: DateTime.optional(),
  })
  .meta({ id: 'PersonalAccessToken' });

const Invitation = z
  .strictObject({
    email: EmailAddress.meta({ description: 'Whom to add' }),
    role: Role.meta({ description: 'owner: everything; member: publishes and updates versions' }),
  })
  .meta({ id: 'Invitation' });

const NewPersonalAccessToken = z
  .strictObject({
    name: z.string().min(1).max(100).meta({ description: 'What the token is for' }),
    description: z.string().max(1000).optional(),
    expires_at: DateTime.optional().meta({
      description: 'When it ends; without it the token does not expire',
    }),
  })
  .meta({ id: 'NewPersonalAccessToken' });

export const publisher = {
  create: operation({
    method: 'POST',
    path: '/publishers',
    summary: 'Create a publisher and become its first owner',
    auth: 'bearer',
    status: 201,
    body: NewPublisher,
    response: Publisher,
    extension: true,
  }),
  get: operation({
    method: 'GET',
    path: '/publishers/{publisherId}',
    summary: 'Show a publisher',
    auth: 'none',
    response: Publisher,
    extension: true,
  }),
  list: operation({
    method: 'GET',
    path: '/users/publishers',
    summary: 'List the publishers you belong to',
    auth: 'bearer',
    response: z.array(Publisher),
    extension: true,
  }),
  update: operation({
    method: 'PUT',
    path: '/publishers/{publisherId}',
    summary: 'Update a publisher',
    auth: 'bearer',
    body: Publisher,
    response: Publisher,
  }),
  token: {
    create: operation({
      method: 'POST',
      path: '/publishers/{publisherId}/tokens',
      summary: 'Create a personal access token for publishing',
      auth: 'bearer',
      status: 201,
      body: NewPersonalAccessToken,
      response: PersonalAccessToken,
      extension: true,
      secret: true,
    }),
    list: operation({
      method: 'GET',
      path: '/publishers/{publisherId}/tokens',
      summary: "List a publisher's personal access tokens, masked",
      auth: 'bearer',
      response: z.array(PersonalAccessToken),
      extension: true,
    }),
    revoke: operation({
      method: 'DELETE',
      path: '/publishers/{publisherId}/tokens/{tokenId}',
      summary: 'Revoke a personal access token',
      auth: 'bearer',
      status: 204,
      extension: true,
    }),
  },
  member: {
    add: operation({
      method: 'POST',
      path: '/publishers/{publisherId}/members',
      summary: 'Add a member by e-mail address',
      auth: 'bearer',
      body: Invitation,
      response: PublisherMember,
      extension: true,
    }),
    list: operation({
      method: 'GET',
      path: '/publishers/{publisherId}/members',
      summary: "List a publisher's members",
      auth: 'bearer',
      response: z.array(PublisherMember),
      extension: true,
    }),
    set: operation({
      method: 'PUT',
      path: '/publishers/{publisherId}/members/{userId}',
      summary: "Change a member's role",
      auth: 'bearer',
      body: z.strictObject({ role: Role }).meta({ id: 'MemberRole' }),
      response: PublisherMember,
      extension: true,
    }),
    remove: operation({
      method: 'DELETE',
      path: '/publishers/{publisherId}/members/{userId}',
      summary: 'Remove a member; the last owner cannot leave',
      auth: 'bearer',
      status: 204,
      extension: true,
    }),
  },
};
