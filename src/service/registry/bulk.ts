import { sql } from 'kysely';
import type { z } from 'zod';
import type { BulkItem } from '../../contract/version.js';
import type { Database } from '../database/database.js';
import type { VersionRow } from '../database/schema.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import { isInsider, isNodeBanned, loadViewer, type Viewer } from './access.js';
import { viewVersion } from './version-view.js';

type VersionPair = z.output<typeof BulkItem>['identifier'];
type FoundVersion = VersionRow & { publisher_id: string; node_status: string; publisher_status: string };

/** Each pair binds two values, and databases limit how many a query may have. */
const PAIRS_PER_QUERY = 1000;

async function getVersionsInBulk(
  { body, caller, context }: OperationCall<'version.bulk'>,
  database: Database,
): Promise<OperationAnswer<'version.bulk'>> {
  const pairs = body.node_versions;
  const viewer = await loadViewer(database, caller);
  const found = await findVersions(database, pairs);
  // Decided: the answer has the order and the duplicates of the request.
  return { node_versions: pairs.map((pair) => toItem(pair, found.get(toPairKey(pair)))) };

  function toItem(identifier: VersionPair, row: FoundVersion | undefined): z.output<typeof BulkItem> {
    const hidden = row && findHiddenReason(viewer, row);
    if (!row || hidden === 'not_found') {
      const error_message = `There is no version ${identifier.version} of the node ${identifier.node_id}.`;
      return { identifier, status: 'not_found', error_message };
    }
    if (hidden === 'banned') {
      return { identifier, status: 'error', error_message: `The node ${identifier.node_id} is banned.` };
    }
    const node_version = viewVersion(context, viewer, row, row.publisher_id);
    return { identifier, status: 'success', node_version };
  }
}

function findHiddenReason(viewer: Viewer, row: FoundVersion): 'not_found' | 'banned' | undefined {
  if (isInsider(viewer, row.publisher_id, row.node_id)) return undefined;
  if (row.node_status === 'NodeStatusDeleted' || row.status !== 'NodeVersionStatusActive') return 'not_found';
  return isNodeBanned({ ...row, status: row.node_status }) ? 'banned' : undefined;
}

async function findVersions(
  database: Database,
  pairs: readonly VersionPair[],
): Promise<Map<string, FoundVersion>> {
  const different = [...new Map(pairs.map((pair) => [toPairKey(pair), pair])).values()];
  const found = new Map<string, FoundVersion>();
  for (let start = 0; start < different.length; start += PAIRS_PER_QUERY) {
    const some = different.slice(start, start + PAIRS_PER_QUERY);
    for (const row of await findVersionBatch(database, some)) found.set(toPairKey(row), row);
  }
  return found;
}

function findVersionBatch(database: Database, pairs: readonly VersionPair[]): Promise<FoundVersion[]> {
  const values = sql.join(pairs.map((pair) => sql`(${pair.node_id}, ${pair.version})`));
  return database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .selectAll('versions')
    .select(['nodes.publisher_id', 'nodes.status as node_status', 'publishers.status as publisher_status'])
    .where(sql<boolean>`(versions.node_id, versions.version) in (values ${values})`)
    .execute();
}

function toPairKey({ node_id, version }: VersionPair): string {
  return `${node_id}\n${version}`;
}

export const bulkHandlers = {
  'version.bulk': { read: getVersionsInBulk },
} satisfies Partial<Handlers>;
