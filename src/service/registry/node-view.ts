import type { z } from 'zod';
import type { Node } from '../../contract/node.js';
import type { Database } from '../database/database.js';
import type { NodeRow, PublisherRow, VersionRow } from '../database/schema.js';
import type { Context } from '../operation/context.js';
import { isInsider, type Viewer } from './access.js';
import type { NodeDetails } from './details.js';
import { viewPublishers } from './publisher-view.js';
import { viewVersion } from './version-view.js';

export type NodeView = z.output<typeof Node>;

export interface ViewNodesOptions {
  readonly context: Pick<Context, 'baseUrl'>;
  readonly database: Database;
  readonly viewer: Viewer;
  // Decided: translations are returned only on request.
  readonly translations?: boolean;
}

/** Nodes in the form of the contract, with publishers and latest versions, in a fixed number of queries. */
export async function viewNodes(options: ViewNodesOptions, rows: readonly NodeRow[]): Promise<NodeView[]> {
  if (rows.length === 0) return [];
  const { database, viewer, context } = options;
  const publisherRows = await database
    .selectFrom('publishers')
    .selectAll()
    .where('id', 'in', [...new Set(rows.map((row) => row.publisher_id))])
    .execute();
  const publishers = await viewPublishers(database, viewer, publisherRows);
  const bans = describeBans(publisherRows);
  const latest = await findLatestVersions(database, rows);
  return rows.map((row) => {
    const version = row.latest_version_id === null ? undefined : latest.get(row.latest_version_id);
    return {
      ...viewOwnFields(options, row, bans.get(row.publisher_id)),
      publisher: publishers.get(row.publisher_id),
      latest_version: version && viewVersion(context, viewer, version, row.publisher_id),
    };
  });
}

export async function viewNode(options: ViewNodesOptions, row: NodeRow): Promise<NodeView> {
  return (await viewNodes(options, [row]))[0] as NodeView;
}

// Decided: while a publisher is banned, the status_detail of its nodes says so unless they have their own.
function describeBans(publishers: readonly PublisherRow[]): Map<string, string> {
  const banned = publishers.filter(({ status }) => status === 'PublisherStatusBanned');
  return new Map(
    banned.map(({ id, status_reason: reason }) => [
      id,
      `The publisher ${id} is banned${reason ? `: ${reason}` : ''}.`,
    ]),
  );
}

function viewOwnFields(
  { viewer, translations: asked }: ViewNodesOptions,
  row: NodeRow,
  ban: string | undefined,
): NodeView {
  const { tags_admin, translations, ...details } = JSON.parse(row.details) as NodeDetails;
  return {
    ...details,
    ...(asked ? { translations: translations ?? {} } : {}),
    // Decided: only admins see tags_admin; members and admins see status_detail.
    ...(viewer.admin ? { tags_admin } : {}),
    ...(isInsider(viewer, row.publisher_id, row.id) ? { status_detail: row.status_detail ?? ban } : {}),
    created_at: row.created_at,
    downloads: row.downloads,
    id: row.id,
    name: row.name,
    search_ranking: row.search_ranking,
    status: row.status as NodeView['status'],
  };
}

async function findLatestVersions(
  database: Database,
  rows: readonly NodeRow[],
): Promise<Map<string, VersionRow>> {
  const ids = rows.flatMap(({ latest_version_id: id }) => (id === null ? [] : [id]));
  if (ids.length === 0) return new Map();
  const versions = await database.selectFrom('versions').selectAll().where('id', 'in', ids).execute();
  return new Map(versions.map((version) => [version.id, version]));
}
