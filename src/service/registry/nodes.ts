import type { z } from 'zod';
import type { Node } from '../../contract/node.js';
import { NodeId } from '../../contract/schema/identifiers.js';
import { type Actor, recordEvent } from '../database/audit-log.js';
import { insertRow, type Tx, updateRows } from '../database/database.js';
import type { NodeRow, VersionRow } from '../database/schema.js';
import type { Handlers, Read, Write } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { requireCountQuota } from '../operation/quota.js';
import { recordAction, toActor } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import { requireValid } from '../operation/validation.js';
import {
  findNodeInAnySpelling,
  foldNodeId,
  getOwnNode,
  openAccess,
  refuseBannedNode,
  refuseClosedNode,
  refuseDeletedNode,
  requireSameIds,
  requireVisibleNode,
} from './access.js';
import { type NodeDetails, pickNodeDetails, refuseLargeFields } from './details.js';
import { refreshNode } from './listed-host-nodes.js';
import { refuseLikeness, toPlainId } from './names.js';
import { findNodeRecord, type NodeRecord } from './node-records.js';
import { buildSearchText, refreshSearch } from './search-index.js';
import { type NodeView, viewNode, viewNodes } from './views.js';

type NodeBody = z.output<typeof Node>;

const getNode: Read<'node.get'> = async (call, database) => {
  const { params, query } = call;
  const access = await openAccess(call, database);
  const record = await findNodeRecord(database, params.nodeId);
  const visible = record && { ...record.node, publisher_status: record.publisher.status };
  requireVisibleNode(access.viewer, params.nodeId, visible);
  const [node] = await viewNodes(access, [record as NodeRecord], query.include_translations);
  return node as NodeView;
};

const createNode: Write<'node.create'> = async (call, tx) => {
  const { params, body, caller, context } = call;
  const taken = await findNodeInAnySpelling(tx, body.id);
  if (taken) {
    refuseDeletedNode(taken);
    throw duplicateNode(taken.id);
  }
  const author = { actor: toActor(caller), byAdmin: caller.admin, context };
  await insertNode(tx, author, { ...params, nodeId: body.id }, body);
  return viewNode(await openAccess(call, tx), body.id);
};

const updateNode: Write<'node.update'> = async (call, tx) => {
  const { params, body, caller, context } = call;
  requireSameIds({ path: 'id', given: body.id, expected: params.nodeId });
  const row = await getOwnNode(tx, params.publisherId, params.nodeId);
  refuseClosedNode(row);
  await patchNode(tx, { actor: toActor(caller), context }, row, body);
  return viewNode(await openAccess(call, tx), row.id);
};

/** Deleting a deleted node does nothing, so that a repeated request succeeds. */
const deleteNode: Write<'node.delete'> = async (call, tx) => {
  const row = await getOwnNode(tx, call.params.publisherId, call.params.nodeId);
  refuseBannedNode(row);
  if (row.status === 'NodeStatusDeleted') return;
  const status = 'NodeStatusDeleted';
  await updateRows(tx, 'nodes', { id: row.id }, { status });
  await refreshNode(tx, row.id);
  const event = { kind: 'node', id: row.id, publisherId: row.publisher_id, action: 'node.status' } as const;
  await recordAction(call, tx, { ...event, status });
};

export interface Author {
  readonly actor: Actor;
  readonly context: Pick<Context, 'configuration' | 'now'>;
}

/** @throws Refused quota_exceeded; invalid_request if the id is invalid or reserved; duplicate_node if it is too similar to another */
export async function insertNode(
  tx: Tx,
  { actor, byAdmin, context }: Author & { readonly byAdmin: boolean },
  { publisherId, nodeId: id }: { readonly publisherId: string; readonly nodeId: string },
  body: NodeBody,
): Promise<NodeRow> {
  requireValid(NodeId, id, 'nodeId');
  await requireCountQuota(tx, context, { publisherId, quota: 'nodes' });
  await refuseLikeness(tx, { kind: 'node', id, byAdmin });
  const details = pickNodeDetails(body);
  const name = body.name ?? id;
  refuseLargeFields({ name, ...details }, 'node');
  const highest = tx.selectFrom('nodes').select(({ fn }) => fn.max('number').as('number'));
  const last = await highest.executeTakeFirst();
  const row: NodeRow = {
    id,
    number: (last?.number ?? 0) + 1,
    folded_id: foldNodeId(id),
    plain_id: toPlainId(id),
    publisher_id: publisherId,
    name,
    details: JSON.stringify(details),
    search_text: buildSearchText(id, name, details),
    search_key: null,
    search_ranking: 0,
    status: 'NodeStatusActive',
    status_detail: null,
    downloads: 0,
    latest_version_id: null,
    created_at: new Date(context.now()).toISOString(),
  };
  await insertRow(tx, 'nodes', row);
  await refreshSearch(tx, id);
  const event = { actor, kind: 'node', id, publisherId, action: 'node.create' } as const;
  await recordEvent(tx, context.now, { ...event, status: row.status });
  return row;
}

// Decided: a PUT, and the node of a publish request, change only the given fields.
export async function patchNode(
  tx: Tx,
  { actor, context }: Author,
  row: NodeRow,
  body: NodeBody,
): Promise<NodeRow> {
  const given = pickNodeDetails(body);
  if (body.name === undefined && Object.keys(given).length === 0) return row;
  const merged = { ...(JSON.parse(row.details) as NodeDetails), ...given };
  const name = body.name ?? row.name;
  refuseLargeFields({ name, ...merged }, 'node');
  const changes = {
    name,
    details: JSON.stringify(merged),
    search_text: buildSearchText(row.id, name, merged),
  };
  await updateRows(tx, 'nodes', { id: row.id }, changes);
  await refreshSearch(tx, row.id, changes.search_text !== row.search_text);
  const event = { actor, kind: 'node', id: row.id, publisherId: row.publisher_id } as const;
  await recordEvent(tx, context.now, { ...event, action: 'node.update' });
  return { ...row, ...changes };
}

/** Writes what a staged version says of its node. @throws Refused invalid_request if that is too large */
export function writeNodeUpdate({ name, ...body }: NodeBody): string {
  const given = { name, ...pickNodeDetails(body) };
  refuseLargeFields(given, 'node');
  return JSON.stringify(given);
}

/** Changes a node as its version said when it was staged, the first time that the version becomes Active. */
export async function applyNodeUpdate(
  tx: Tx,
  author: Author,
  { node, version: { id, node_update } }: { readonly node: NodeRow; readonly version: VersionRow },
): Promise<void> {
  if (node_update === null) return;
  await updateRows(tx, 'versions', { id }, { node_update: null });
  await patchNode(tx, author, node, JSON.parse(node_update));
}

/** @param takenId the existing id, in its own letter case */
export function duplicateNode(takenId: string): Refused {
  return new Refused(
    'duplicate_node',
    `The node id ${takenId} is already taken (ids are not case-sensitive); choose another.`,
  );
}

export const nodeHandlers = {
  'node.create': { write: createNode },
  'node.get': { read: getNode },
  'node.update': { write: updateNode },
  'node.delete': { write: deleteNode },
} satisfies Partial<Handlers>;
