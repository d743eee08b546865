import type { z } from 'zod';
import { removeNulls } from '../../contract/json.js';
import type { Node } from '../../contract/node.js';
import type { NodeVersion } from '../../contract/node-version.js';
import type { Publisher, PublisherMember } from '../../contract/publisher.js';
import type { Database } from '../database/database.js';
import type { PublisherRow } from '../database/schema.js';
import { getDownloadUrl } from '../operation/signed-urls.js';
import { isInsider, type ReadAccess, type Viewer } from './access.js';
import type { NodeDetails, VersionDetails } from './details.js';
import { type BoundedVersionRow, findNodeRecord, type NodeRecord } from './node-records.js';
import { parseProvenance } from './provenance.js';

export type PublisherView = z.output<typeof Publisher>;
export type MemberView = z.output<typeof PublisherMember>;

/** Publishers in the form of the contract, by id, with their members if the caller may see them. */
export async function viewPublishers(
  { database, viewer }: ReadAccess,
  rows: readonly PublisherRow[],
): Promise<Map<string, PublisherView>> {
  const members = await findMembers(
    database,
    rows.map(({ id }) => id).filter((id) => isInsider(viewer, id)),
  );
  const views = rows.map(({ created_at: createdAt, plain_id: _, status_reason: __, ...fields }) => {
    const view = removeNulls({ ...fields, createdAt, members: members.get(fields.id) });
    return [fields.id, view as PublisherView] as const;
  });
  return new Map(views);
}

/** Finds the members of each publisher, ordered by user id. */
export async function findMembers(
  database: Database,
  publisherIds: readonly string[],
): Promise<Map<string, MemberView[]>> {
  if (publisherIds.length === 0) return new Map();
  const rows = await database
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.publisher_id', 'members.user_id', 'members.role', 'users.email', 'users.name'])
    .where('members.publisher_id', 'in', publisherIds)
    .orderBy('members.user_id')
    .execute();
  const views = new Map<string, MemberView[]>();
  for (const row of rows) {
    const list = views.get(row.publisher_id) ?? [];
    views.set(row.publisher_id, list);
    const { user_id: id, role, email, name } = row;
    list.push({ id, role, user: removeNulls({ id, email, name }) as MemberView['user'] });
  }
  return views;
}

export type VersionView = z.output<typeof NodeVersion>;

export function viewVersion(
  { context, viewer }: Omit<ReadAccess, 'database'>,
  row: BoundedVersionRow,
  publisherId: string,
): VersionView {
  const stored = row.details === null ? {} : { deprecated: false, ...JSON.parse(row.details) };
  const { tags_admin, ...details } = stored as VersionDetails;
  return {
    ...details,
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
    provenance: parseProvenance(row.provenance),
    ...(row.status === 'NodeVersionStatusPending' && { approve_by: row.approve_by ?? undefined }),
  };
}

export type NodeView = z.output<typeof Node>;

// Decided: translations are returned only on request.
export async function viewNodes(
  access: ReadAccess,
  records: readonly NodeRecord[],
  hasTranslations = false,
): Promise<NodeView[]> {
  const different = new Map(records.map(({ publisher }) => [publisher.id, publisher]));
  const publishers = await viewPublishers(access, [...different.values()]);
  return records.map((record) => ({
    ...viewOwnFields(access.viewer, record, hasTranslations),
    publisher: publishers.get(record.publisher.id),
    latest_version: record.latest && viewVersion(access, record.latest, record.publisher.id),
  }));
}

export async function viewNode(access: ReadAccess, nodeId: string): Promise<NodeView> {
  const record = (await findNodeRecord(access.database, nodeId)) as NodeRecord;
  return (await viewNodes(access, [record]))[0] as NodeView;
}

// Decided: while a publisher is banned, the status_detail of its nodes says so unless they have their own.
function describeBan({ id, status, status_reason: reason }: PublisherRow): string | undefined {
  if (status !== 'PublisherStatusBanned') return undefined;
  return `The publisher ${id} is banned${reason ? `: ${reason}` : ''}.`;
}

function viewOwnFields(viewer: Viewer, { node, publisher }: NodeRecord, hasTranslations: boolean): NodeView {
  const { tags_admin, translations, ...details } = JSON.parse(node.details ?? '{}') as NodeDetails;
  return {
    ...details,
    ...(hasTranslations ? { translations: translations ?? {} } : {}),
    // Decided: only admins see tags_admin; members and admins see status_detail.
    ...(viewer.admin ? { tags_admin } : {}),
    ...(isInsider(viewer, publisher.id, node.id)
      ? { status_detail: node.status_detail ?? describeBan(publisher) }
      : {}),
    created_at: node.created_at,
    downloads: node.downloads,
    id: node.id,
    name: node.name,
    search_ranking: node.search_ranking,
    status: node.status as NodeView['status'],
  };
}
