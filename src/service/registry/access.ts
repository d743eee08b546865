import { coversNode } from '../auth/random-tokens.js';
import { compileOnce, type Database, findRow, findRows } from '../database/database.js';
import type { NodeRow, PublisherRow, VersionRow } from '../database/schema.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { invalidFields, Refused } from '../operation/refused.js';
import { compareVersions } from './version-order.js';

/** What a caller may see beyond what is public. */
export interface Viewer {
  readonly admin: boolean;
  /** The publishers whose private data the caller may see. */
  readonly publishers: ReadonlySet<string>;
  /** If the caller's token is limited to nodes: their ids. */
  readonly nodes?: readonly string[] | undefined;
}

/** Sees everything. */
const INSIDER: Viewer = { admin: true, publishers: new Set() };

async function loadViewer(database: Database, caller: Caller): Promise<Viewer> {
  if (caller.publisherId !== undefined)
    return { admin: false, publishers: new Set([caller.publisherId]), nodes: caller.nodes };
  // An API key generates, and sees of the registry what is public.
  if (caller.userId === undefined || caller.kind === 'api_key')
    return { admin: false, publishers: new Set() };
  const memberships = await findRows(database, 'members', { user_id: caller.userId });
  return { admin: caller.admin, publishers: new Set(memberships.map((row) => row.publisher_id)) };
}

/** What reads of the registry for a caller need. */
export interface ReadAccess {
  readonly context: Pick<Context, 'baseUrl'>;
  readonly database: Database;
  readonly viewer: Viewer;
}

export async function openAccess(
  { caller, context }: { readonly caller: Caller; readonly context: Pick<Context, 'baseUrl'> },
  database: Database,
): Promise<ReadAccess> {
  return { context, database, viewer: await loadViewer(database, caller) };
}

// Decided: a token that is limited to nodes sees only those as a member does.
/** Whether the caller may see the private data of this publisher, or of this node of it. */
export function isInsider(viewer: Viewer, publisherId: string, nodeId?: string): boolean {
  return viewer.admin || (viewer.publishers.has(publisherId) && coversNode(viewer.nodes, nodeId));
}

const nodeNotFound = (nodeId: string) => new Refused('not_found', `There is no node ${nodeId}.`);

/** How many of the newest versions are considered, and how many are named. */
const MAX_READ_VERSIONS = 100;
const MAX_NAMED_VERSIONS = 5;

/** The refusal for a version that the caller does not see, with those that it does. */
export async function createVersionNotFound(
  { database, viewer }: Pick<ReadAccess, 'database' | 'viewer'>,
  { id, publisher_id }: Pick<NodeRow, 'id' | 'publisher_id'>,
  version: string,
): Promise<Refused> {
  const isInside = isInsider(viewer, publisher_id, id);
  const statuses: VersionRow['status'][] = isInside
    ? [
        'NodeVersionStatusActive',
        'NodeVersionStatusPending',
        'NodeVersionStatusFlagged',
        'NodeVersionStatusBanned',
      ]
    : ['NodeVersionStatusActive'];
  const rows = await database
    .selectFrom('versions')
    .select('version')
    .where('node_id', '=', id)
    .where('status', 'in', statuses)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_READ_VERSIONS)
    .execute();
  const known = rows.map((row) => row.version).sort((one, other) => compareVersions(other, one));
  const named = known.slice(0, MAX_NAMED_VERSIONS).join(', ');
  const more = known.length > MAX_NAMED_VERSIONS ? ' and others' : '';
  const what = `${isInside ? '' : 'Active '}version ${version}`;
  return new Refused('not_found', `The node ${id} has no ${what}; it has ${named || 'none'}${more}.`);
}

/** @throws Refused not_found; banned, if the caller is neither a member nor an admin */
export async function getVisiblePublisher(
  { database, viewer }: ReadAccess,
  publisherId: string,
): Promise<PublisherRow> {
  const row = await findRow(database, 'publishers', { id: publisherId });
  if (!row) throw new Refused('not_found', `There is no publisher ${publisherId}.`);
  if (row.status === 'PublisherStatusBanned' && !isInsider(viewer, publisherId))
    throw new Refused('banned', `The publisher ${publisherId} is banned.`);
  return row;
}

// Decided: what is hidden from a caller is 404. What is banned is 403, but members and admins can read it.
/** @throws Refused not_found if it is missing or deleted, banned if it or its publisher is; insiders see both */
export async function getVisibleNode({ database, viewer }: ReadAccess, nodeId: string): Promise<NodeRow> {
  const [row] = await findNode(database, nodeId);
  return requireVisibleNode(viewer, nodeId, row);
}

const findNode = compileOnce((database, nodeId: string) =>
  database
    .selectFrom('nodes')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .selectAll('nodes')
    .select('publishers.status as publisher_status')
    .where('nodes.id', '=', nodeId),
);

/** @throws as `getVisibleNode`, for a node that was read by its id */
export function requireVisibleNode<Row extends Pick<NodeRow, 'id' | 'publisher_id' | 'status'>>(
  viewer: Viewer,
  nodeId: string,
  row: (Row & { readonly publisher_status: string }) | undefined,
): Row {
  if (!row) throw nodeNotFound(nodeId);
  if (isInsider(viewer, row.publisher_id, row.id)) return row;
  if (row.status === 'NodeStatusDeleted') throw nodeNotFound(nodeId);
  if (isNodeBanned(row)) throw new Refused('banned', `The node ${nodeId} is banned.`);
  return row;
}

export function isNodeBanned(row: { readonly status: string; readonly publisher_status: string }): boolean {
  return row.status === 'NodeStatusBanned' || row.publisher_status === 'PublisherStatusBanned';
}

/**
 * Finds a version that the caller may see, by its version string.
 * @throws Refused as `getVisibleNode`; not_found if it is missing or not Active, which insiders see
 */
export async function getVisibleVersion(
  access: ReadAccess,
  { nodeId, version }: { readonly nodeId: string; readonly version: string },
): Promise<{ node: NodeRow; version: VersionRow }> {
  const node = await getVisibleNode(access, nodeId);
  const row = await findRow(access.database, 'versions', { node_id: node.id, version });
  const isOpen = row?.status === 'NodeVersionStatusActive';
  const hidden = !isOpen && !isInsider(access.viewer, node.publisher_id, node.id);
  if (!row || hidden) throw await createVersionNotFound(access, node, version);
  return { node, version: row };
}

/** Node ids are compared in this form, without regard to case. */
export function foldNodeId(nodeId: string): string {
  return nodeId.toLowerCase();
}

/** Finds the node with this id in any letter case, of any publisher and status. */
export function findNodeInAnySpelling(database: Database, nodeId: string): Promise<NodeRow | undefined> {
  return findRow(database, 'nodes', { folded_id: foldNodeId(nodeId) });
}

/** @throws Refused not_found, also if it is another publisher's */
export async function getOwnNode(database: Database, publisherId: string, nodeId: string): Promise<NodeRow> {
  const node = await findNodeInAnySpelling(database, nodeId);
  if (!node || node.publisher_id !== publisherId)
    throw new Refused('not_found', `The publisher ${publisherId} has no node ${nodeId}.`);
  if (node.id !== nodeId) {
    throw new Refused('not_found', `There is no node ${nodeId}; did you mean ${node.id}?`);
  }
  return node;
}

// Decided: a banned node cannot be changed, not even by its members.
export function refuseBannedNode({ id, status, status_detail }: NodeRow): void {
  if (status !== 'NodeStatusBanned') return;
  throw new Refused('banned', `The node ${id} is banned${status_detail ? `: ${status_detail}` : ''}.`);
}

export function refuseDeletedNode({ id, status }: NodeRow): void {
  if (status !== 'NodeStatusDeleted') return;
  throw new Refused('node_deleted', `The node ${id} was deleted, and its id cannot be used again.`);
}

/** Refuses what changes a node or its versions while it is banned, or once it is deleted. */
export function refuseClosedNode(node: NodeRow): void {
  refuseBannedNode(node);
  refuseDeletedNode(node);
}

// Decided: {versionId} is NodeVersion.id, and the version string is accepted too.
/** @throws Refused not_found, also if the version belongs to another node or publisher */
export async function getOwnVersion(
  database: Database,
  params: { readonly publisherId: string; readonly nodeId: string; readonly versionId: string },
): Promise<{ node: NodeRow; version: VersionRow }> {
  const node = await getOwnNode(database, params.publisherId, params.nodeId);
  const version = await database
    .selectFrom('versions')
    .selectAll()
    .where('node_id', '=', node.id)
    .where((column) =>
      column.or([column('id', '=', params.versionId), column('version', '=', params.versionId)]),
    )
    .executeTakeFirst();
  if (!version) throw await createVersionNotFound({ database, viewer: INSIDER }, node, params.versionId);
  return { node, version };
}

// Decided: ids in a body may be absent; if present, they must equal those of the path.
/**
 * @param ids path of the id in the body, its value there, and the value in the URL
 * @throws Refused invalid_request naming every id that differs
 */
export function requireSameIds(
  ...ids: readonly { readonly path: string; readonly given: string | undefined; readonly expected: string }[]
): void {
  const details = ids
    .filter(({ given, expected }) => given !== undefined && given !== expected)
    .map(({ path, expected }) => ({ path, message: `must be ${expected}, as in the URL, or absent` }));
  if (details.length > 0) throw invalidFields(details);
}
