import type { Database, Tx } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import { recordAction } from '../operation/record-action.js';
import {
  getOwnVersion,
  getVisibleNode,
  getVisibleVersion,
  isInsider,
  loadViewer,
  refuseBannedNode,
  refuseDeletedNode,
} from './access.js';
import { pickVersionDetails, refuseLargeFields, type VersionDetails } from './details.js';
import { compareVersions } from './version-order.js';
import { changeVersionStatus, refreshLatest } from './version-states.js';
import { type VersionView, viewVersion } from './version-view.js';

async function getVersion(call: OperationCall<'version.get'>, database: Database): Promise<VersionView> {
  const viewer = await loadViewer(database, call.caller);
  const found = await getVisibleVersion(database, viewer, call.params.nodeId, call.params.version);
  return viewVersion(call.context, viewer, found.version, found.node.publisher_id);
}

async function listVersions(
  { params, query, caller, context }: OperationCall<'version.list'>,
  database: Database,
): Promise<OperationAnswer<'version.list'>> {
  const viewer = await loadViewer(database, caller);
  const node = await getVisibleNode(database, viewer, params.nodeId);
  let versions = database.selectFrom('versions').selectAll().where('node_id', '=', node.id);
  if (query.statuses) versions = versions.where('status', 'in', query.statuses);
  // Decided: only members and admins see drafts, which are all versions that are not Active.
  if (!isInsider(viewer, node.publisher_id, node.id)) {
    versions = versions.where('status', '=', 'NodeVersionStatusActive');
  }
  const rows = await versions.execute();
  return rows
    .sort((left, right) => compareVersions(right.version, left.version))
    .map((row) => viewVersion(context, viewer, row, node.publisher_id));
}

async function updateVersion(call: OperationCall<'version.update'>, tx: Tx): Promise<VersionView> {
  const { params, body, caller, context } = call;
  const { node, version } = await getOwnVersion(tx, params);
  refuseBannedNode(node);
  refuseDeletedNode(node);
  const given = pickVersionDetails(body);
  const before = JSON.parse(version.details) as VersionDetails;
  const merged = { ...before, ...given };
  refuseLargeFields(merged, 'node_version');
  const details = JSON.stringify(merged);
  if (Object.keys(given).length > 0) {
    await tx.updateTable('versions').set({ details }).where('id', '=', version.id).execute();
    await refreshLatest(tx, node.id);
    const event = { kind: 'version', id: version.id, publisherId: node.publisher_id } as const;
    await recordAction(call, tx, { ...event, action: 'version.update' });
  }
  return viewVersion(context, await loadViewer(tx, caller), { ...version, details }, node.publisher_id);
}

async function deleteVersion(
  { params, caller, context }: OperationCall<'version.delete'>,
  tx: Tx,
): Promise<undefined> {
  const { node, version } = await getOwnVersion(tx, params);
  refuseBannedNode(node);
  refuseDeletedNode(node);
  await changeVersionStatus(tx, {
    versionId: version.id,
    to: 'NodeVersionStatusDeleted',
    right: 'owner',
    actor: caller.userId as string,
    now: context.now(),
  });
}

async function getVersionHistory(
  { params }: OperationCall<'version.history'>,
  database: Database,
): Promise<OperationAnswer<'version.history'>> {
  const { version } = await getOwnVersion(database, params);
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

export const versionHandlers = {
  'version.update': { write: updateVersion },
  'version.get': { read: getVersion },
  'version.list': { read: listVersions },
  'version.delete': { write: deleteVersion },
  'version.history': { read: getVersionHistory },
} satisfies Partial<Handlers>;
