import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Node } from '../../contract/node.js';
import type { Context, Database } from '../context.js';
import type { NodeTable } from '../database/schema.js';
import type { NodeDetails } from './details.js';
import { type PublisherRow, publisherViews } from './publisher-view.js';
import { type Sight, seesInside } from './sight.js';
import { type VersionRow, versionView } from './version-view.js';

export type NodeRow = Selectable<NodeTable>;
export type NodeView = z.output<typeof Node>;

export interface NodeViewOptions {
  readonly context: Pick<Context, 'baseUrl'>;
  readonly database: Database;
  readonly sight: Sight;
  // Decided: translations are returned only when asked for.
  readonly translations?: boolean;
}

/** The nodes as the contract spells them, with their publishers and latest versions, in a fixed number of queries. */
export async function nodeViews(options: NodeViewOptions, rows: readonly NodeRow[]): Promise<NodeView[]> {
  if (rows.length === 0) return [];
  const { database, sight, context } = options;
  const publisherRows = await database
    .selectFrom('publishers')
    .selectAll()
    .where('id', 'in', [...new Set(rows.map((row) => row.publisher_id))])
    .execute();
  const publishers = await publisherViews(database, sight, publisherRows);
  const bans = bansOf(publisherRows);
  const latest = await latestVersions(database, rows);
  return rows.map((row) => {
    const version = row.latest_version_id === null ? undefined : latest.get(row.latest_version_id);
    return {
      ...ownFields(options, row, bans.get(row.publisher_id)),
      publisher: publishers.get(row.publisher_id),
      latest_version: version && versionView(context, sight, version, row.publisher_id),
    };
  });
}

export async function nodeView(options: NodeViewOptions, row: NodeRow): Promise<NodeView> {
  return (await nodeViews(options, [row]))[0] as NodeView;
}

// Decided: while a publisher is banned, the status_detail of its nodes says so where they have none of their own.
function bansOf(publishers: readonly PublisherRow[]): Map<string, string> {
  const banned = publishers.filter(({ status }) => status === 'PublisherStatusBanned');
  return new Map(
    banned.map(({ id, status_reason: reason }) => [
      id,
      `The publisher ${id} is banned${reason ? `: ${reason}` : ''}.`,
    ]),
  );
}

function ownFields(
  { sight, translations: asked }: NodeViewOptions,
  row: NodeRow,
  ban: string | undefined,
): NodeView {
  const { tags_admin, translations, ...details } = JSON.parse(row.details) as NodeDetails;
  return {
    ...details,
    ...(asked ? { translations: translations ?? {} } : {}),
    // Decided: only admins see tags_admin; status_detail is for members and admins.
    ...(sight.admin ? { tags_admin } : {}),
    ...(seesInside(sight, row.publisher_id) ? { status_detail: row.status_detail ?? ban } : {}),
    created_at: row.created_at,
    downloads: row.downloads,
    id: row.id,
    name: row.name,
    search_ranking: row.search_ranking,
    status: row.status as NodeView['status'],
  };
}

async function latestVersions(
  database: Database,
  rows: readonly NodeRow[],
): Promise<Map<string, VersionRow>> {
  const ids = rows.flatMap(({ latest_version_id: id }) => (id === null ? [] : [id]));
  if (ids.length === 0) return new Map();
  const versions = await database.selectFrom('versions').selectAll().where('id', 'in', ids).execute();
  return new Map(versions.map((version) => [version.id, version]));
}
