import type { Database, Tx } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { refuseLarge, type VersionDetails, versionDetailsGiven } from './details.js';
import { record } from './events.js';
import { ownVersion, refuseBanned, refuseDeleted } from './own.js';
import { seesInside, sightOf } from './sight.js';
import { compareVersions } from './version-order.js';
import { refreshLatest, transition } from './version-states.js';
import { type VersionView, versionView } from './version-view.js';
import { visibleNode, visibleVersion } from './visible.js';

export async function getVersion(call: Call<'version.get'>, database: Database): Promise<VersionView> {
  const sight = await sightOf(database, call.caller);
  const found = await visibleVersion(database, sight, call.params.nodeId, call.params.version);
  return versionView(call.context, sight, found.version, found.node.publisher_id);
}

export async function listVersions(
  { params, query, caller, context }: Call<'version.list'>,
  database: Database,
): Promise<Answer<'version.list'>> {
  const sight = await sightOf(database, caller);
  const node = await visibleNode(database, sight, params.nodeId);
  let versions = database.selectFrom('versions').selectAll().where('node_id', '=', node.id);
  if (query.statuses) versions = versions.where('status', 'in', query.statuses);
  // Decided: drafts, which is every version not Active, are for members and admins.
  if (!seesInside(sight, node.publisher_id)) {
    versions = versions.where('status', '=', 'NodeVersionStatusActive');
  }
  const rows = await versions.execute();
  return rows
    .sort((left, right) => compareVersions(right.version, left.version))
    .map((row) => versionView(context, sight, row, node.publisher_id));
}

export async function updateVersion(call: Call<'version.update'>, tx: Tx): Promise<VersionView> {
  const { params, body, caller, context } = call;
  const { node, version } = await ownVersion(tx, params);
  refuseBanned(node);
  refuseDeleted(node);
  const given = versionDetailsGiven(body);
  const before = JSON.parse(version.details) as VersionDetails;
  const merged = { ...before, ...given };
  refuseLarge(merged, 'node_version');
  const details = JSON.stringify(merged);
  if (Object.keys(given).length > 0) {
    await tx.updateTable('versions').set({ details }).where('id', '=', version.id).execute();
    await refreshLatest(tx, node.id);
    const event = { actor: caller.userId as string, kind: 'version', id: version.id } as const;
    await record(tx, context.now, { ...event, action: 'version.update' });
  }
  return versionView(context, await sightOf(tx, caller), { ...version, details }, node.publisher_id);
}

export async function deleteVersion(
  { params, caller, context }: Call<'version.delete'>,
  tx: Tx,
): Promise<undefined> {
  const { node, version } = await ownVersion(tx, params);
  refuseBanned(node);
  refuseDeleted(node);
  await transition(tx, {
    versionId: version.id,
    to: 'NodeVersionStatusDeleted',
    right: 'owner',
    actor: caller.userId as string,
    now: context.now(),
  });
}

export async function versionHistory(
  { params }: Call<'version.history'>,
  database: Database,
): Promise<Answer<'version.history'>> {
  const { version } = await ownVersion(database, params);
  const events = await database
    .selectFrom('events')
    .select(['at', 'actor as by', 'status', 'reason'])
    .where('subject_kind', '=', 'version')
    .where('subject_id', '=', version.id)
    .where('status', 'is not', null)
    .orderBy('id')
    .execute();
  return events.map(({ at, by, status, reason }) => ({
    at,
    by,
    status: status as string,
    reason: reason ?? undefined,
  }));
}
