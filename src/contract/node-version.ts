import { z } from 'zod';
import { DateTime, NodeId, SemanticVersion } from './schema/identifiers.js';
import { defineObject, limitedText, MAX_LINE, MAX_TEXT, textList } from './schema/values.js';

export const NodeVersionStatus = z.enum([
  'NodeVersionStatusActive',
  'NodeVersionStatusDeleted',
  'NodeVersionStatusBanned',
  'NodeVersionStatusPending',
  'NodeVersionStatusFlagged',
]);

/** service.md 2.3. Read-only fields are set by the service or by admins, and ignored in requests. */
export const NodeVersion = defineObject('NodeVersion', {
  changelog: limitedText(MAX_TEXT).optional().describe('Summary of changes in this version'),
  // Decided: host_node_extract_status is pending, success or failed.
  host_node_extract_status: z
    .string()
    .optional()
    .meta({
      description: 'Status of the node-definition extraction process',
      examples: ['pending', 'success', 'failed'],
      readOnly: true,
    }),
  // Decided: an extension field.
  archive_sha256: z.string().optional().meta({
    description: 'SHA-256 of the archive in hex; absent until it is uploaded',
    readOnly: true,
    'x-extension': true,
  }),
  createdAt: DateTime.optional().meta({ description: 'When the version was created', readOnly: true }),
  dependencies: textList('Pip dependencies required by the node'),
  deprecated: z.boolean().optional().describe('Whether this version is deprecated'),
  downloadUrl: z.string().optional().meta({ description: 'URL to download this version', readOnly: true }),
  id: z.string().optional().meta({ readOnly: true }),
  node_id: NodeId.optional().describe('Unique identifier of the node'),
  status: NodeVersionStatus.optional().meta({ readOnly: true }),
  status_reason: z.string().optional().meta({ description: 'Reason for the status', readOnly: true }),
  supported_accelerators: textList('Accelerators the version supports'),
  supported_hostui_frontend_version: limitedText(MAX_LINE).optional().describe('Supported frontend versions'),
  supported_hostui_version: limitedText(MAX_LINE).optional().describe('Supported host application versions'),
  supported_os: textList('Operating systems the version supports'),
  tags: textList('Tags of the version'),
  tags_admin: textList('Admin-only tags', { readOnly: true }),
  version: SemanticVersion.optional().describe('Semantic version; unique for the node'),
});
