import type { Tx } from '../../database/database.js';
import type { Handlers, OperationAnswer, OperationCall } from '../../operation/call.js';
import { recordAction } from '../../operation/record-action.js';
import { loadViewer } from '../access.js';
import { findHostNode } from '../host-nodes.js';

// Decided: a policy applies to the definition of one version; in the next version it is Active again.
async function setHostNodePolicy(
  call: OperationCall<'admin.hostNode.setPolicy'>,
  tx: Tx,
): Promise<OperationAnswer<'admin.hostNode.setPolicy'>> {
  const { policy } = call.body;
  const { nodeId, version, hostNodeName } = call.params;
  const { versionId, publisherId, view } = await findHostNode(
    tx,
    await loadViewer(tx, call.caller),
    call.params,
  );
  if (view.policy === policy) return view;
  await tx
    .updateTable('host_nodes')
    .set({ policy })
    .where('version_id', '=', versionId)
    .where('name', '=', hostNodeName)
    .execute();
  const id = `${nodeId}@${version}/${hostNodeName}`;
  const event = { kind: 'host_node', id, publisherId, action: 'host_node.policy', status: policy } as const;
  await recordAction(call, tx, event);
  return { ...view, policy };
}

export const adminHostNodeHandlers = {
  'admin.hostNode.setPolicy': { write: setHostNodePolicy },
} satisfies Partial<Handlers>;
