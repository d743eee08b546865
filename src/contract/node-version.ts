import { z } from 'zod';
import { DateTime, NodeId, SemanticVersion } from './rules.js';

export const NodeVersionStatus = z.enum([
  'NodeVersionStatusActive',
  'NodeVersionStatusDeleted',
  'NodeVersionStatusBanned',
  'NodeVersionStatusPending',
  'NodeVersionStatusFlagged',
]);

/** service.md 2.3. Fields marked read-only are set by the service or by admins and ignored in requests. */
export const NodeVersion = z
  .object({
    changelog: z.string().optional().meta({ description: 'Summary of changes in this version' }),
    // Decided: host_node_extract_status is pending, success or failed.
    host_node_extract_status: z
      .string()
      .optional()
      .meta({
        description: 'Status of the node-definition extraction process',
        examples: ['pending', 'success', 'failed'],
        readOnly: true,
      }),
    createdAt: DateTime.optional().meta({ description: 'When the version was created', readOnly: true }),
    dependencies: z
      .array(z.string())
      .optional()
      .meta({ description: 'Pip dependencies required by the node' }),
    deprecated: z.boolean().optional().meta({ description: 'Whether this version is deprecated' }),
    downloadUrl: z.string().optional().meta({ description: 'URL to download this version', readOnly: true }),
    id: z.string().optional().meta({ readOnly: true }),
    node_id: NodeId.optional().meta({ description: 'Unique identifier of the node' }),
    status: NodeVersionStatus.optional().meta({ readOnly: true }),
    status_reason: z.string().optional().meta({ readOnly: true }),
    supported_accelerators: z.array(z.string()).optional(),
    supported_hostui_frontend_version: z.string().optional(),
    supported_hostui_version: z.string().optional(),
    supported_os: z.array(z.string()).optional(),
    tags: z.array(z.string()).optional(),
    tags_admin: z.array(z.string()).optional().meta({ description: 'Admin-only tags', readOnly: true }),
    version: SemanticVersion.optional().meta({ description: 'Semantic version; unique for the node' }),
  })
  .meta({ id: 'NodeVersion' });
