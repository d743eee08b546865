import { z } from 'zod';
import { DateTime, NodeId, SemanticVersion } from './schema/identifiers.js';
import { defineObject, limitedText, readOnly, text, textList } from './schema/values.js';

export const NodeVersionStatus = z.enum([
  'NodeVersionStatusActive',
  'NodeVersionStatusDeleted',
  'NodeVersionStatusBanned',
  'NodeVersionStatusPending',
  'NodeVersionStatusFlagged',
]);

// Decided: an extension field. It is removed together with the mark.
/** Why a version is deprecated, for those who install it. */
export const deprecation_message = limitedText(1000).optional().meta({
  description: 'What to use instead of a deprecated version, or why; shown on install and download',
  'x-extension': true,
});

/** What the CI job was that published a version, as its issuer vouches for it. */
export const Provenance = defineObject('Provenance', {
  issuer: z.string().describe('Who vouches for the rest'),
  repository: z.string().optional(),
  repository_id: z.string().optional().describe('Stays the same when the repository is renamed'),
  ref: z.string().optional().describe('Branch or tag that was built'),
  commit: z.string().optional(),
  workflow: z.string().optional(),
  run: z.string().optional().describe('Id of the run'),
});

/** service.md 2.3. Read-only fields are set by the service or by admins, and ignored in requests. */
export const NodeVersion = defineObject('NodeVersion', {
  changelog: text.long.optional().describe('Summary of changes in this version'),
  // Decided: host_node_extract_status is pending, success or failed.
  host_node_extract_status: z
    .string()
    .optional()
    .meta({
      description: 'Status of the node-definition extraction process',
      examples: ['pending', 'success', 'failed'],
      readOnly: true,
    }),
  // Decided: extension fields.
  approve_by: readOnly(
    DateTime,
    'Until when an owner can approve this staged version; present while it is Pending',
    { 'x-extension': true },
  ),
  archive_sha256: readOnly(z.string(), 'SHA-256 of the archive in hex; absent until it is uploaded', {
    'x-extension': true,
  }),
  createdAt: readOnly(DateTime, 'When the version was created'),
  dependencies: textList('Pip dependencies required by the node'),
  deprecated: z.boolean().optional().describe('Whether this version is deprecated'),
  deprecation_message,
  downloadUrl: readOnly(z.string(), 'URL to download this version'),
  // Decided: an extension field, without which a publish would take the version of a namesake for its own.
  from_uplink: readOnly(z.boolean(), 'Whether it is of the registry behind this one', {
    'x-extension': true,
  }),
  id: readOnly(z.string()),
  // Decided: an extension field, of versions that CI jobs published by a trust.
  provenance: readOnly(Provenance, 'What the CI job was that published it', { 'x-extension': true }),
  node_id: NodeId.optional().describe('Unique identifier of the node'),
  status: readOnly(NodeVersionStatus),
  status_reason: readOnly(z.string(), 'Reason for the status'),
  supported_accelerators: textList('Accelerators the version supports'),
  supported_hostui_frontend_version: text.line.optional().describe('Supported frontend versions'),
  supported_hostui_version: text.line.optional().describe('Supported host application versions'),
  supported_os: textList('Operating systems the version supports'),
  tags: textList('Tags of the version'),
  tags_admin: textList('Admin-only tags', { readOnly: true }),
  version: SemanticVersion.optional().describe('Semantic version; unique for the node'),
});
