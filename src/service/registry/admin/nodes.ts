import type { Tx } from '../../context.js';
import type { Call } from '../../http/handler.js';
import { Refused } from '../../refused.js';
import { type NodeDetails, refuseLarge } from '../details.js';
import { record } from '../events.js';
import { type NodeRow, type NodeView, nodeView } from '../node-view.js';
import { sightOf } from '../sight.js';
import { visibleNode } from '../visible.js';

type SetNode = Call<'admin.node.set'>;

/** Changes what is the admins' on a node. */
export async function setNode(call: SetNode, tx: Tx): Promise<NodeView> {
  const { params, caller, context } = call;
  const sight = await sightOf(tx, caller);
  const row = await visibleNode(tx, sight, params.nodeId);
  await setStatus(call, tx, row);
  await setFields(call, tx, row);
  return nodeView({ context, database: tx, sight }, await visibleNode(tx, sight, row.id));
}

// Decided: admins move nodes between Active and Banned. A new status has the detail given with it or none: why it was
// banned is no longer true of what is Active.
async function setStatus({ body, caller, context }: SetNode, tx: Tx, row: NodeRow): Promise<void> {
  const { status, status_detail } = body;
  if (status === undefined) return;
  if (status === 'NodeStatusDeleted' || row.status === 'NodeStatusDeleted') {
    const [from, to] = [row.status, status].map((name) => name.replace('NodeStatus', ''));
    throw new Refused('invalid_transition', `The node ${row.id} is ${from} and cannot become ${to} here.`);
  }
  if (status === row.status) return;
  await tx.updateTable('nodes').set({ status, status_detail: null }).where('id', '=', row.id).execute();
  const event = { actor: caller.userId as string, kind: 'node', id: row.id } as const;
  const reason = status_detail || undefined;
  await record(tx, context.now, { ...event, action: 'node.status', status, ...(reason && { reason }) });
}

async function setFields({ body, caller, context }: SetNode, tx: Tx, row: NodeRow): Promise<void> {
  const { status, status_detail, search_ranking, tags_admin, preempted_host_node_names } = body;
  const details: NodeDetails = {
    ...(JSON.parse(row.details) as NodeDetails),
    ...(tags_admin && { tags_admin }),
    ...(preempted_host_node_names && { preempted_host_node_names }),
  };
  refuseLarge({ name: row.name, ...details }, 'node');
  await tx
    .updateTable('nodes')
    .set({
      details: JSON.stringify(details),
      ...(search_ranking !== undefined && { search_ranking }),
      // An empty one takes it away.
      ...(status_detail !== undefined && { status_detail: status_detail || null }),
    })
    .where('id', '=', row.id)
    .execute();
  const others = [search_ranking, tags_admin, preempted_host_node_names, status ? undefined : status_detail];
  if (others.every((field) => field === undefined)) return;
  const event = { actor: caller.userId as string, kind: 'node', id: row.id } as const;
  await record(tx, context.now, { ...event, action: 'node.update' });
}
