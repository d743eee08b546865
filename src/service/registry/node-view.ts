import type { z } from 'zod';
import type { Node } from '../../contract/node.js';
import type { Database } from '../database/database.js';
import type { PublisherRow } from '../database/schema.js';
import type { Context } from '../operation/context.js';
import { isInsider, type Viewer } from './access.js';
import type { NodeDetails } from './details.js';
import { findNodeRecord, type NodeRecord } from './node-records.js';
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

/** Nodes in the form of the contract. */
export async function viewNodes(
  options: ViewNodesOptions,
  records: readonly NodeRecord[],
): Promise<NodeView[]> {
  const { database, viewer, context } = options;
  const different = new Map(records.map(({ publisher }) => [publisher.id, publisher]));
  const publishers = await viewPublishers(database, viewer, [...different.values()]);
  return records.map((record) => ({
    ...viewOwnFields(options, record),
    publisher: publishers.get(record.publisher.id),
    latest_version: record.latest && viewVersion(context, viewer, record.latest, record.publisher.id),
  }));
}

/** A node that exists. */
export async function viewNode(options: ViewNodesOptions, nodeId: string): Promise<NodeView> {
  const record = (await findNodeRecord(options.database, nodeId)) as NodeRecord;
  return (await viewNodes(options, [record]))[0] as NodeView;
}

// Decided: while a publisher is banned, the status_detail of its nodes says so unless they have their own.
function describeBan({ id, status, status_reason: reason }: PublisherRow): string | undefined {
  if (status !== 'PublisherStatusBanned') return undefined;
  return `The publisher ${id} is banned${reason ? `: ${reason}` : ''}.`;
}

function viewOwnFields(
  { viewer, translations: asked }: ViewNodesOptions,
  { node, publisher }: NodeRecord,
): NodeView {
  const { tags_admin, translations, ...details } = JSON.parse(node.details) as NodeDetails;
  return {
    ...details,
    ...(asked ? { translations: translations ?? {} } : {}),
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
