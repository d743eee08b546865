import type { Database } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import { Refused } from '../operation/refused.js';
import { getVisibleNode, loadViewer, refuseDeletedNode, versionNotFound } from './access.js';
import { viewVersion } from './version-view.js';

// Decided: only Active versions are installed, also by members.
async function installNode(
  { params, query, caller, address, context }: OperationCall<'node.install'>,
  database: Database,
): Promise<OperationAnswer<'node.install'>> {
  const viewer = await loadViewer(database, caller);
  const node = await getVisibleNode(database, viewer, params.nodeId);
  refuseDeletedNode(node);
  const active = database
    .selectFrom('versions')
    .selectAll()
    .where('node_id', '=', node.id)
    .where('status', '=', 'NodeVersionStatusActive');
  const requested = query.version;
  const version = await (requested === undefined
    ? active.where('id', '=', node.latest_version_id ?? '')
    : active.where('version', '=', requested)
  ).executeTakeFirst();
  if (!version) {
    if (requested !== undefined) throw versionNotFound(node.id, requested);
    throw new Refused('not_found', `The node ${node.id} has no active version yet.`);
  }
  context.installs.count({ nodeId: node.id, versionId: version.id, address });
  return viewVersion(context, viewer, version, node.publisher_id);
}

export const installHandlers = {
  'node.install': { read: installNode },
} satisfies Partial<Handlers>;
