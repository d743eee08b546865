import type { Selectable } from 'kysely';
import type { Database } from '../context.js';
import type { VersionTable } from '../database/schema.js';
import { Refused } from '../refused.js';

export type UploadTarget = Pick<
  Selectable<VersionTable>,
  'version' | 'status' | 'archive_size' | 'archive_sha256'
>;

// Decided: a signed URL is worth nothing while its node or publisher is banned, or once its node is deleted; and what
// was judged before its archive came gets none.
/**
 * The version that an upload is for; to be asked before the bytes come, and again with the commit.
 * @throws Refused not_found, banned, version_exists
 */
export async function uploadTarget(database: Database, versionId: string): Promise<UploadTarget> {
  const row = await database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .select(['versions.version', 'versions.status', 'archive_size', 'archive_sha256', 'node_id'])
    .select(['versions.status_reason', 'nodes.publisher_id'])
    .select(['nodes.status as node_status', 'publishers.status as publisher_status'])
    .where('versions.id', '=', versionId)
    .executeTakeFirst();
  if (!row || row.status === 'NodeVersionStatusDeleted') {
    throw new Refused(
      'version_exists',
      'This version was deleted meanwhile; register it again or take another number.',
    );
  }
  if (row.node_status === 'NodeStatusDeleted') {
    throw new Refused(
      'not_found',
      `The node ${row.node_id} was deleted; nothing is uploaded to it any more.`,
    );
  }
  if (row.publisher_status === 'PublisherStatusBanned') {
    throw new Refused('banned', `The publisher ${row.publisher_id} is banned.`);
  }
  if (row.node_status === 'NodeStatusBanned') {
    throw new Refused('banned', `The node ${row.node_id} is banned.`);
  }
  if (row.archive_sha256 === null && row.status !== 'NodeVersionStatusPending') throw used(row);
  return row;
}

/** The number is used up, whatever became of it. */
export function used({
  version,
  status,
  status_reason,
}: Pick<Selectable<VersionTable>, 'version' | 'status' | 'status_reason'>): Refused {
  const state = status.replace('NodeVersionStatus', '');
  const reason = status_reason ? ` (${status_reason})` : '';
  return new Refused(
    'version_exists',
    `Version ${version} exists already and is ${state}${reason}; publish another number.`,
  );
}
