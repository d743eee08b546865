import type { Tx } from '../../database/database.js';
import type { NodeRow } from '../../database/schema.js';
import type { Handlers, OperationCall } from '../../operation/call.js';
import { recordAction } from '../../operation/record-action.js';
import { Refused } from '../../operation/refused.js';
import { getVisibleNode, loadViewer } from '../access.js';
import { type NodeDetails, refuseLargeFields } from '../details.js';
import { refreshNode } from '../listed-host-nodes.js';
import { type NodeView, viewNode } from '../node-view.js';
import { refreshSearch } from '../search-index.js';

type SetNodeCall = OperationCall<'admin.node.set'>;

/** Changes the fields of a node that only admins set. */
async function setNode(call: SetNodeCall, tx: Tx): Promise<NodeView> {
  const { params, caller, context } = call;
  const viewer = await loadViewer(tx, caller);
  const row = await getVisibleNode(tx, viewer, params.nodeId);
  await setNodeStatus(call, tx, row);
  await setNodeFields(call, tx, row);
  return viewNode({ context, database: tx, viewer }, row.id);
}

// Decided: admins move nodes between Active and Banned. A new status has the detail given with it or none,
// because the reason of a ban does not apply to an Active node.
async function setNodeStatus(call: SetNodeCall, tx: Tx, row: NodeRow): Promise<void> {
  const { status, status_detail } = call.body;
  if (status === undefined) return;
  if (status === 'NodeStatusDeleted' || row.status === 'NodeStatusDeleted') {
    const [from, to] = [row.status, status].map((name) => name.replace('NodeStatus', ''));
    throw new Refused('invalid_transition', `The node ${row.id} is ${from} and cannot become ${to} here.`);
  }
  if (status === row.status) return;
  await tx.updateTable('nodes').set({ status, status_detail: null }).where('id', '=', row.id).execute();
  await refreshNode(tx, row.id);
  const reason = status_detail || undefined;
  const event = { kind: 'node', id: row.id, publisherId: row.publisher_id, action: 'node.status' } as const;
  await recordAction(call, tx, { ...event, status, reason });
}

async function setNodeFields(call: SetNodeCall, tx: Tx, row: NodeRow): Promise<void> {
  const { status, status_detail, search_ranking, tags_admin, preempted_host_node_names } = call.body;
  const details: NodeDetails = {
    ...(JSON.parse(row.details) as NodeDetails),
    ...(tags_admin && { tags_admin }),
    ...(preempted_host_node_names && { preempted_host_node_names }),
  };
  refuseLargeFields({ name: row.name, ...details }, 'node');
  await tx
    .updateTable('nodes')
    .set({
      details: JSON.stringify(details),
      ...(search_ranking !== undefined && { search_ranking }),
      // An empty text removes it.
      ...(status_detail !== undefined && { status_detail: status_detail || null }),
    })
    .where('id', '=', row.id)
    .execute();
  await refreshSearch(tx, row.id);
  const others = [search_ranking, tags_admin, preempted_host_node_names, status ? undefined : status_detail];
  if (others.every((field) => field === undefined)) return;
  const event = { kind: 'node', id: row.id, publisherId: row.publisher_id, action: 'node.update' } as const;
  await recordAction(call, tx, event);
}

export const adminNodeHandlers = {
  'admin.node.set': { write: setNode },
} satisfies Partial<Handlers>;
