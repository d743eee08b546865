import type { Tx } from '../../database/database.js';
import type { VersionRow } from '../../database/schema.js';
import type { Handlers, OperationCall } from '../../operation/call.js';
import { recordAction } from '../../operation/record-action.js';
import { getVisibleVersion, loadViewer } from '../access.js';
import { refuseLargeFields, type VersionDetails } from '../details.js';
import { changeVersionStatus } from '../version-states.js';
import { type VersionView, viewVersion } from '../version-view.js';

type SetVersionCall = OperationCall<'admin.version.setStatus'>;

async function setVersionStatus(call: SetVersionCall, tx: Tx): Promise<VersionView> {
  const { params, body, caller, context } = call;
  const viewer = await loadViewer(tx, caller);
  const { node, version } = await getVisibleVersion(tx, viewer, params.nodeId, params.version);
  await setVersionTags(call, tx, version, node.publisher_id);
  if (body.status) {
    await changeVersionStatus(tx, {
      versionId: version.id,
      to: body.status,
      right: 'admin',
      actor: caller.userId as string,
      ...(body.status_reason && { reason: body.status_reason }),
      now: context.now(),
    });
  }
  const now = await getVisibleVersion(tx, viewer, params.nodeId, params.version);
  return viewVersion(context, viewer, now.version, node.publisher_id);
}

async function setVersionTags(
  call: SetVersionCall,
  tx: Tx,
  version: VersionRow,
  publisherId: string,
): Promise<void> {
  const { tags_admin } = call.body;
  if (!tags_admin) return;
  const merged: VersionDetails = { ...(JSON.parse(version.details) as VersionDetails), tags_admin };
  refuseLargeFields(merged, 'node_version');
  const details = JSON.stringify(merged);
  await tx.updateTable('versions').set({ details }).where('id', '=', version.id).execute();
  await recordAction(call, tx, { kind: 'version', id: version.id, publisherId, action: 'version.update' });
}

export const adminVersionHandlers = {
  'admin.version.setStatus': { write: setVersionStatus },
} satisfies Partial<Handlers>;
