import type { Tx } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { Refused } from '../refused.js';
import { refuseDeleted } from './own.js';
import { sightOf } from './sight.js';
import { versionView } from './version-view.js';
import { noVersion, visibleNode } from './visible.js';

// Decided: only an Active version is installed, by members too; each answer counts as one download of the node.
export async function installNode(
  { params, query, caller, context }: Call<'node.install'>,
  tx: Tx,
): Promise<Answer<'node.install'>> {
  const sight = await sightOf(tx, caller);
  const node = await visibleNode(tx, sight, params.nodeId);
  refuseDeleted(node);
  const active = tx
    .selectFrom('versions')
    .selectAll()
    .where('node_id', '=', node.id)
    .where('status', '=', 'NodeVersionStatusActive');
  const wanted = query.version;
  const version = await (wanted === undefined
    ? active.where('id', '=', node.latest_version_id ?? '')
    : active.where('version', '=', wanted)
  ).executeTakeFirst();
  if (!version) {
    if (wanted !== undefined) throw noVersion(node.id, wanted);
    throw new Refused('not_found', `The node ${node.id} has no version to install yet.`);
  }
  await tx
    .updateTable('nodes')
    .set((column) => ({ downloads: column('downloads', '+', 1) }))
    .where('id', '=', node.id)
    .execute();
  return versionView(context, sight, version, node.publisher_id);
}
