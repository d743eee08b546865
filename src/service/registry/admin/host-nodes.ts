import type { Tx } from '../../context.js';
import type { Answer, Call } from '../../http/handler.js';
import { record } from '../events.js';
import { findHostNode } from '../host-nodes.js';
import { sightOf } from '../sight.js';

// Decided: a policy is that of one version's definition; the next version's begins Active again.
export async function setHostNodePolicy(
  { params, body, caller, context }: Call<'admin.hostNode.setPolicy'>,
  tx: Tx,
): Promise<Answer<'admin.hostNode.setPolicy'>> {
  const { policy } = body;
  const { nodeId, version, hostNodeName } = params;
  const { versionId, view } = await findHostNode(tx, await sightOf(tx, caller), params);
  if (view.policy === policy) return view;
  await tx
    .updateTable('host_nodes')
    .set({ policy })
    .where('version_id', '=', versionId)
    .where('name', '=', hostNodeName)
    .execute();
  const id = `${nodeId}@${version}/${hostNodeName}`;
  const event = { actor: caller.userId as string, kind: 'host_node', id } as const;
  await record(tx, context.now, { ...event, action: 'host_node.policy', status: policy });
  return { ...view, policy };
}
