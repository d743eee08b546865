import type { z } from 'zod';
import type { Node } from '../../contract/node.js';
import { NodeId } from '../../contract/rules.js';
import type { Context, Database, Tx } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { requireValid } from '../http/validate.js';
import { Refused } from '../refused.js';
import { type NodeDetails, nodeDetailsGiven, refuseLarge, searchText } from './details.js';
import { record } from './events.js';
import { type NodeRow, type NodeView, nodeView } from './node-view.js';
import { foldId, nodeInAnySpelling, ownNode, refuseBanned, refuseDeleted } from './own.js';
import { requireSameIds } from './same-id.js';
import { sightOf } from './sight.js';
import { visibleNode } from './visible.js';

type NodeBody = z.output<typeof Node>;

export async function getNode(call: Call<'node.get'>, database: Database): Promise<NodeView> {
  const { params, query, caller, context } = call;
  const sight = await sightOf(database, caller);
  const row = await visibleNode(database, sight, params.nodeId);
  return nodeView({ context, database, sight, translations: query.include_translations }, row);
}

export async function createNode(call: Call<'node.create'>, tx: Tx): Promise<NodeView> {
  const { params, body, caller, context } = call;
  const taken = await nodeInAnySpelling(tx, body.id);
  if (taken) {
    refuseDeleted(taken);
    throw duplicate(taken.id);
  }
  const author = { publisherId: params.publisherId, actor: caller.userId as string, now: context.now };
  return written(call, tx, await insertNode(tx, author, body.id, body));
}

export async function updateNode(call: Call<'node.update'>, tx: Tx): Promise<NodeView> {
  const { params, body, caller, context } = call;
  requireSameIds({ path: 'id', given: body.id, expected: params.nodeId });
  const row = await ownNode(tx, params.publisherId, params.nodeId);
  refuseBanned(row);
  refuseDeleted(row);
  return written(
    call,
    tx,
    await patchNode(tx, { actor: caller.userId as string, now: context.now }, row, body),
  );
}

/** Deleting what is deleted changes nothing, so that a repeated request is no error. */
export async function deleteNode(
  { params, caller, context }: Call<'node.delete'>,
  tx: Tx,
): Promise<undefined> {
  const row = await ownNode(tx, params.publisherId, params.nodeId);
  refuseBanned(row);
  if (row.status === 'NodeStatusDeleted') return;
  const status = 'NodeStatusDeleted';
  await tx.updateTable('nodes').set({ status }).where('id', '=', row.id).execute();
  const actor = caller.userId as string;
  await record(tx, context.now, { actor, kind: 'node', id: row.id, action: 'node.status', status });
}

export interface Author {
  /** A user id. */
  readonly actor: string;
  readonly now: Context['now'];
}

/** @throws Refused invalid_request where the id is none */
export async function insertNode(
  tx: Tx,
  { publisherId, actor, now }: Author & { readonly publisherId: string },
  id: string,
  body: NodeBody,
): Promise<NodeRow> {
  requireValid(NodeId, id, 'nodeId');
  const details = nodeDetailsGiven(body);
  const name = body.name ?? id;
  refuseLarge({ name, ...details }, 'node');
  const row: NodeRow = {
    id,
    folded_id: foldId(id),
    publisher_id: publisherId,
    name,
    details: JSON.stringify(details),
    search_text: searchText(id, name, details),
    search_ranking: 0,
    status: 'NodeStatusActive',
    status_detail: null,
    downloads: 0,
    latest_version_id: null,
    created_at: new Date(now()).toISOString(),
  };
  await tx.insertInto('nodes').values(row).execute();
  await record(tx, now, { actor, kind: 'node', id, action: 'node.create', status: row.status });
  return row;
}

// Decided: a PUT, and the node of a publish request, change the fields given and keep the others.
export async function patchNode(
  tx: Tx,
  { actor, now }: Author,
  row: NodeRow,
  body: NodeBody,
): Promise<NodeRow> {
  const given = nodeDetailsGiven(body);
  if (body.name === undefined && Object.keys(given).length === 0) return row;
  const merged = { ...(JSON.parse(row.details) as NodeDetails), ...given };
  const name = body.name ?? row.name;
  refuseLarge({ name, ...merged }, 'node');
  const changes = {
    name,
    details: JSON.stringify(merged),
    search_text: searchText(row.id, name, merged),
  };
  await tx.updateTable('nodes').set(changes).where('id', '=', row.id).execute();
  await record(tx, now, { actor, kind: 'node', id: row.id, action: 'node.update' });
  return { ...row, ...changes };
}

/** The id is taken, by whomever, in the spelling named. */
export function duplicate(takenId: string): Refused {
  return new Refused(
    'duplicate_node',
    `The node id ${takenId} is taken, and ids are compared without regard to case.`,
  );
}

async function written(
  { caller, context }: Pick<Call<'node.create'>, 'caller' | 'context'>,
  tx: Tx,
  row: NodeRow,
): Promise<Answer<'node.create'>> {
  return nodeView({ context, database: tx, sight: await sightOf(tx, caller) }, row);
}
