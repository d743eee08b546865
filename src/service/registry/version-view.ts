import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { NodeVersion } from '../../contract/node-version.js';
import type { Context } from '../context.js';
import type { VersionTable } from '../database/schema.js';
import { downloadUrl } from '../http/signed-urls.js';
import type { VersionDetails } from './details.js';
import type { Sight } from './sight.js';

export type VersionRow = Selectable<VersionTable>;
export type VersionView = z.output<typeof NodeVersion>;

/** A version as the contract spells it. */
export function versionView(
  context: Pick<Context, 'baseUrl'>,
  sight: Pick<Sight, 'admin'>,
  row: VersionRow,
  publisherId: string,
): VersionView {
  const { tags_admin, deprecated = false, ...details } = JSON.parse(row.details) as VersionDetails;
  return {
    ...details,
    deprecated,
    ...(sight.admin ? { tags_admin } : {}),
    host_node_extract_status: row.extract_status,
    createdAt: row.created_at,
    downloadUrl: downloadUrl(context, { publisherId, nodeId: row.node_id, version: row.version }),
    id: row.id,
    node_id: row.node_id,
    status: row.status as VersionView['status'],
    status_reason: row.status_reason ?? undefined,
    version: row.version,
  };
}
