import type { Database } from '../database/database.js';
import type { VersionRow } from '../database/schema.js';
import { Refused } from '../operation/refused.js';

export interface UploadTarget
  extends Pick<VersionRow, 'version' | 'status' | 'archive_size' | 'archive_sha256'> {
  readonly publisher_id: string;
}

// Decided: a signed URL is invalid while its node or publisher is banned, once its node is deleted, and once
// its version got a status without an archive.
/**
 * Finds the version that an upload is for. Call it before the transfer and again with the commit.
 * @throws Refused not_found, banned, version_exists
 */
export async function getUploadTarget(database: Database, versionId: string): Promise<UploadTarget> {
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
      'This version was deleted; register it again or use another version number.',
    );
  }
  if (row.node_status === 'NodeStatusDeleted') {
    throw new Refused('not_found', `The node ${row.node_id} was deleted and no longer accepts uploads.`);
  }
  if (row.publisher_status === 'PublisherStatusBanned') {
    throw new Refused('banned', `The publisher ${row.publisher_id} is banned.`);
  }
  if (row.node_status === 'NodeStatusBanned') {
    throw new Refused('banned', `The node ${row.node_id} is banned.`);
  }
  if (row.archive_sha256 === null && row.status !== 'NodeVersionStatusPending') throw versionNumberUsed(row);
  return row;
}

/** A version number is never used twice, not even after its version was deleted or banned. */
export function versionNumberUsed({
  version,
  status,
  status_reason,
}: Pick<VersionRow, 'version' | 'status' | 'status_reason'>): Refused {
  const state = status.replace('NodeVersionStatus', '');
  const reason = status_reason ? ` (${status_reason})` : '';
  return new Refused(
    'version_exists',
    `Version ${version} already exists and is ${state}${reason}; publish under another version number.`,
  );
}
