import type { Tx } from '../../context.js';
import type { Call } from '../../http/handler.js';
import { refuseLarge, type VersionDetails } from '../details.js';
import { record } from '../events.js';
import { sightOf } from '../sight.js';
import { transition } from '../version-states.js';
import { type VersionRow, type VersionView, versionView } from '../version-view.js';
import { visibleVersion } from '../visible.js';

type SetVersion = Call<'admin.version.setStatus'>;

export async function setVersionStatus(call: SetVersion, tx: Tx): Promise<VersionView> {
  const { params, body, caller, context } = call;
  const sight = await sightOf(tx, caller);
  const { node, version } = await visibleVersion(tx, sight, params.nodeId, params.version);
  await setTags(call, tx, version);
  if (body.status) {
    await transition(tx, {
      versionId: version.id,
      to: body.status,
      right: 'admin',
      actor: caller.userId as string,
      ...(body.status_reason && { reason: body.status_reason }),
      now: context.now(),
    });
  }
  const now = await visibleVersion(tx, sight, params.nodeId, params.version);
  return versionView(context, sight, now.version, node.publisher_id);
}

async function setTags({ body, caller, context }: SetVersion, tx: Tx, version: VersionRow): Promise<void> {
  const { tags_admin } = body;
  if (!tags_admin) return;
  const merged: VersionDetails = { ...(JSON.parse(version.details) as VersionDetails), tags_admin };
  refuseLarge(merged, 'node_version');
  const details = JSON.stringify(merged);
  await tx.updateTable('versions').set({ details }).where('id', '=', version.id).execute();
  const event = { actor: caller.userId as string, kind: 'version', id: version.id } as const;
  await record(tx, context.now, { ...event, action: 'version.update' });
}
