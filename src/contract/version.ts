import { z } from 'zod';
import { Node } from './node.js';
import { deprecation_message, NodeVersion, NodeVersionStatus } from './node-version.js';
import { operation } from './operation.js';
import { limitEntries } from './schema/entries.js';
import { DateTime } from './schema/identifiers.js';
import { defineObject, defineRequest, text } from './schema/values.js';
import { Envelope } from './statement.js';

const Publish = z
  .object({
    node: Node,
    node_version: NodeVersion.required({ version: true }),
    stage: z
      .boolean()
      .optional()
      .describe('Whether an owner has to approve the version once it has passed its checks'),
    personal_access_token: z
      .string()
      .min(1)
      .max(1024)
      .meta({ description: 'Personal access token of the publisher', writeOnly: true }),
  })
  .meta({
    id: 'PublishRequest',
    examples: [
      {
        node: { id: 'hello-nodes', name: 'Hello' },
        node_version: { version: '1.0.0', changelog: 'The first version' },
        personal_access_token: 'pat_…',
      },
    ],
  });

const Published = defineObject('Published', {
  node_version: NodeVersion,
  signedUrl: z.string().describe('Signed URL for uploading the node version with one PUT'),
  token_expires_at: DateTime.optional().describe(
    'When the personal access token expires, if a person created it and that is within 14 days',
  ),
});

// Decided: unknown fields are refused, because the answer would be 200 although nothing changed.
const VersionUpdate = z
  .strictObject({
    changelog: text.long.optional().describe('Summary of changes in this version'),
    deprecated: z.boolean().optional().describe('Whether this version is deprecated'),
    deprecation_message,
  })
  .meta({ id: 'VersionUpdate', examples: [{ changelog: 'Faster', deprecated: false }] });

export const VersionPair = defineRequest('VersionPair', {
  node_id: z.string().min(1).max(1024),
  version: z.string().min(1).max(1024),
});

// Decided: a bulk request has at most 1000 pairs.
const BulkRequest = z
  .strictObject({ node_versions: limitEntries('bulkPairs', z.array(VersionPair)) })
  .meta({ id: 'BulkRequest', examples: [{ node_versions: [{ node_id: 'hello-nodes', version: '1.0.0' }] }] });

/** service.md 2.7. Decided: status is `success`, `not_found` or `error`. */
export const BulkItem = defineObject('BulkItem', {
  identifier: z.object({ node_id: z.string(), version: z.string() }),
  status: z.string().meta({ examples: ['success', 'not_found', 'error'] }),
  error_message: z.string().optional(),
  node_version: NodeVersion.optional(),
});

const HistoryEntry = defineObject('HistoryEntry', {
  at: DateTime,
  by: z.string().describe('Who did it: a user id, or `service`'),
  status: z.string(),
  reason: z.string().optional(),
});

const ofPublisher = '/publishers/{publisherId}/nodes/{nodeId}/versions';

export const version = {
  publish: operation(`POST ${ofPublisher}`, {
    summary: 'Register a version and get the URL to upload it to',
    who: 'member writes',
    status: 201,
    credentialInBody: true,
    body: Publish,
    response: Published,
  }),
  update: operation(`PUT ${ofPublisher}/{versionId}`, {
    summary: "Update a version's changelog and deprecated flag",
    who: 'member writes',
    body: VersionUpdate,
    response: NodeVersion,
  }),
  get: operation('GET /nodes/{nodeId}/versions/{version}', {
    summary: 'Show a version',
    who: 'anyone',
    response: NodeVersion,
    extension: 'reads one version',
  }),
  statement: operation('GET /nodes/{nodeId}/versions/{version}/statement', {
    summary: 'Show the signed statement of the service on an Active version, as DSSE',
    who: 'anyone',
    response: Envelope,
    extension: 'vouches for the archive, its files, the verdict and the provenance',
  }),
  readme: operation('GET /nodes/{nodeId}/versions/{version}/readme', {
    summary: 'Show the README of the archive of a version',
    who: 'anyone',
    response: defineObject('Readme', {
      text: z.string().describe('Markdown, as it is in the archive; at most 32 KiB of it'),
    }),
    extension: 'shows people what a pack does',
  }),
  list: operation('GET /nodes/{nodeId}/versions', {
    summary: "List a node's versions, newest first",
    who: 'anyone',
    query: z.object({
      statuses: z.array(NodeVersionStatus).optional().describe('Only versions with these statuses'),
    }),
    response: z.array(NodeVersion),
    extension: 'reads the versions of a node',
  }),
  delete: operation(`DELETE ${ofPublisher}/{versionId}`, {
    summary: 'Delete a version; its number cannot be used again',
    who: 'owner writes',
    status: 204,
    destroys: {
      action: 'Delete version {versionId} of {nodeId}',
      loss: 'The version number cannot be used again.',
    },
    extension: 'status NodeVersionStatusDeleted is shown',
  }),
  approve: operation(`POST ${ofPublisher}/{versionId}/approve`, {
    summary: 'Approve a staged version, which becomes Active',
    who: 'owner writes',
    response: NodeVersion,
    extension: 'a person decides what a CI job may only prepare',
  }),
  history: operation(`GET ${ofPublisher}/{versionId}/history`, {
    summary: 'Show the status history of a version',
    who: 'member reads',
    response: z.array(HistoryEntry),
    extension: 'says why a version has its status',
  }),
  bulk: operation('POST /bulk/nodes/versions', {
    summary: 'Read many versions by node id and version',
    who: 'anyone',
    safe: true,
    body: BulkRequest,
    response: z.object({ node_versions: z.array(BulkItem) }),
  }),
};
