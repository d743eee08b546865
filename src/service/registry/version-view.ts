import type { z } from 'zod';
import type { NodeVersion } from '../../contract/node-version.js';
import type { VersionRow } from '../database/schema.js';
import type { Context } from '../operation/context.js';
import { getDownloadUrl } from '../operation/signed-urls.js';
import type { Viewer } from './access.js';
import type { VersionDetails } from './details.js';

export type VersionView = z.output<typeof NodeVersion>;

/** A version in the form of the contract. */
export function viewVersion(
  context: Pick<Context, 'baseUrl'>,
  viewer: Pick<Viewer, 'admin'>,
  row: VersionRow,
  publisherId: string,
): VersionView {
  const { tags_admin, deprecated = false, ...details } = JSON.parse(row.details) as VersionDetails;
  return {
    ...details,
    deprecated,
    ...(viewer.admin ? { tags_admin } : {}),
    archive_sha256: row.archive_sha256 ?? undefined,
    host_node_extract_status: row.extract_status,
    createdAt: row.created_at,
    downloadUrl: getDownloadUrl(context, { publisherId, nodeId: row.node_id, version: row.version }),
    id: row.id,
    node_id: row.node_id,
    status: row.status as VersionView['status'],
    status_reason: row.status_reason ?? undefined,
    version: row.version,
  };
}
