import { z } from 'zod';
import { operation } from './operation.js';
import { limitEntries } from './schema/entries.js';
import { DateTime, NodeId } from './schema/identifiers.js';
import { defineObject, defineRequest } from './schema/values.js';

// Decided: claims are compared exactly, because a pattern could match more than was meant.
const ClaimValue = z
  .string()
  .min(1)
  .max(300)
  .refine((value) => !value.includes('*'), {
    error: 'must be exact, because * does not match anything else',
  });

const Claims = limitEntries(20, z.record(z.string().min(1).max(200), ClaimValue));

const wanted = {
  repository: ClaimValue.refine((value) => !value.includes('://'), {
    error: 'must be a name such as octo/light-tools, not an address',
  })
    .optional()
    .describe('Repository that may publish, such as octo/light-tools'),
  workflow: ClaimValue.optional().describe(
    'File of the workflow that may publish: release.yml; on GitLab its path',
  ),
  environment: ClaimValue.optional().describe('Environment that the job must run in'),
  ref: ClaimValue.optional().describe('Branch or tag that must be built, such as refs/heads/main'),
  claims: Claims.optional().describe('Other claims that the identity token must have, with their values'),
};

export type WantedClaims = z.output<z.ZodObject<typeof wanted>>;

const nodes = {
  nodes: z
    .array(NodeId)
    .min(1)
    .max(100)
    .optional()
    .describe('Ids of the only nodes that it may publish, existing or not; default: all of the publisher'),
};

const STAGE = 'Whether an owner has to approve each version';

const Trust = defineObject('Trust', {
  id: z.string(),
  issuer: z.string().describe('Who signs the identity tokens'),
  ...wanted,
  ...nodes,
  stage: z.boolean().describe(STAGE),
  ids: z
    .record(z.string(), z.string())
    .optional()
    .describe('Ids of the repository and its owner as they were at the first use; others are refused'),
  created_by: z.string().describe('Who added it: a user id. It ends with their membership'),
  created_by_email: z.string().optional().describe('E-mail address of that user, if known'),
  created_at: DateTime,
  expires_at: DateTime.optional().describe(
    'When it ends unless it is used before, because it names a node that does not exist',
  ),
  last_used_at: DateTime.optional(),
});

const NewTrust = defineRequest('NewTrust', {
  issuer: z
    .string()
    .min(1)
    .max(1000)
    .describe('Who signs the identity tokens: github, gitlab, or the address of the issuer'),
  ...wanted,
  ...nodes,
  stage: z.boolean().default(false).describe(STAGE),
});

const Identity = {
  token: z
    .string()
    .min(1)
    .max(16_384)
    .meta({ description: 'Identity token that a CI job got for this service', writeOnly: true }),
  nodes: z.array(NodeId).min(1).max(100).optional().describe('Ids of the nodes to publish'),
};

const ClaimCheck = z.object({
  claim: z.string().describe('Name of the claim in the identity token'),
  ok: z.boolean(),
  wanted: z.string(),
  got: z.string().optional().describe('Absent if the token does not have the claim'),
});

const TrustCheck = defineObject('TrustCheck', {
  accepted: z.boolean(),
  trust_id: z.string().optional().describe('The trust that matches, or the nearest one'),
  claims: z.array(ClaimCheck),
});

const PublishToken = defineObject('PublishToken', {
  token: z.string().describe('A personal access token'),
  expires_at: DateTime,
  nodes: z.array(z.string()).optional().describe('Ids of the only nodes that it may be used for'),
  trust_id: z.string(),
});

const extension = 'CI jobs publish without a stored token';

export const trust = {
  add: operation('POST /publishers/{publisherId}/trusts', {
    summary: 'Trust the CI jobs of a repository to publish without a stored token',
    who: 'owner writes',
    status: 201,
    body: NewTrust,
    response: Trust,
    extension,
  }),
  list: operation('GET /publishers/{publisherId}/trusts', {
    summary: 'List which CI jobs a publisher trusts',
    who: 'member reads',
    response: z.array(Trust),
    extension,
  }),
  remove: operation('DELETE /publishers/{publisherId}/trusts/{trustId}', {
    summary: 'Stop trusting CI jobs, and revoke the tokens that they got',
    who: 'owner writes',
    status: 204,
    destroys: {
      action: 'Remove trust {trustId} of {publisherId}',
      loss: 'Its CI jobs can no longer publish.',
    },
    extension,
  }),
  // Decided: who is not a member learns of a trust only with an identity token of the repository that it names.
  check: operation('POST /publishers/{publisherId}/trusts/check', {
    summary: 'Compare the identity of a CI job with the nearest trust of a publisher, claim by claim',
    who: 'anyone',
    opensSignIn: true,
    safe: true,
    body: defineRequest('IdentityCheck', Identity),
    response: TrustCheck,
    extension,
  }),
  exchange: operation('POST /publishers/{publisherId}/trusts/exchange', {
    summary: 'Exchange the identity token of a CI job for a personal access token of 15 minutes',
    who: 'anyone',
    opensSignIn: true,
    status: 201,
    body: defineRequest('IdentityExchange', Identity),
    response: PublishToken,
    extension,
    secret: true,
  }),
};
