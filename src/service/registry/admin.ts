import { sql } from 'kysely';
import { readStatusWord } from '../../contract/status-names.js';
import { createAdminToken } from '../auth/admin-tokens.js';
import { countRows, deleteRows, type Tx, updateRows } from '../database/database.js';
import type { NodeRow, VersionRow } from '../database/schema.js';
import type { Handlers, OperationCall, Read, Write } from '../operation/call.js';
import { countPages, limitColumns, readPage, requireReachablePage } from '../operation/paging.js';
import { recordAction, toActor } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import { getVisibleNode, getVisiblePublisher, getVisibleVersion, openAccess } from './access.js';
import { type NodeDetails, refuseLargeFields, type VersionDetails } from './details.js';
import { findHostNode } from './host-nodes.js';
import { refreshNode, refreshNodes } from './listed-host-nodes.js';
import { applyNodeUpdate } from './nodes.js';
import { getPublisherView } from './publishers.js';
import { refreshSearch } from './search-index.js';
import { changeVersionStatus } from './version-states.js';
import { viewNode, viewVersion } from './views.js';

type SetNodeCall = OperationCall<'admin.node.set'>;

/** Changes the fields of a node that only admins set. */
const setNode: Write<'admin.node.set'> = async (call, tx) => {
  const access = await openAccess(call, tx);
  const row = await getVisibleNode(access, call.params.nodeId);
  await setNodeStatus(call, tx, row);
  await setNodeFields(call, tx, row);
  return viewNode(access, row.id);
};

// Decided: admins move nodes between Active and Banned. A new status has the detail given with it or none,
// because the reason of a ban does not apply to an Active node.
async function setNodeStatus(call: SetNodeCall, tx: Tx, row: NodeRow): Promise<void> {
  const { status, status_detail } = call.body;
  if (status === undefined) return;
  if (status === 'NodeStatusDeleted' || row.status === 'NodeStatusDeleted') {
    const [from, to] = [row.status, status].map(readStatusWord);
    throw new Refused('invalid_transition', `The node ${row.id} is ${from} and cannot become ${to} here.`);
  }
  if (status === row.status) return;
  await updateRows(tx, 'nodes', { id: row.id }, { status, status_detail: null });
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
  await updateRows(
    tx,
    'nodes',
    { id: row.id },
    {
      details: JSON.stringify(details),
      ...(search_ranking !== undefined && { search_ranking }),
      // An empty text removes it.
      ...(status_detail !== undefined && { status_detail: status_detail || null }),
    },
  );
  await refreshSearch(tx, row.id);
  const others = [search_ranking, tags_admin, preempted_host_node_names, status ? undefined : status_detail];
  if (others.every((field) => field === undefined)) return;
  const event = { kind: 'node', id: row.id, publisherId: row.publisher_id, action: 'node.update' } as const;
  await recordAction(call, tx, event);
}

type SetVersionCall = OperationCall<'admin.version.setStatus'>;

const setVersionStatus: Write<'admin.version.setStatus'> = async (call, tx) => {
  const { params, body, caller, context } = call;
  const access = await openAccess(call, tx);
  const { node, version } = await getVisibleVersion(access, params);
  await setVersionTags(call, tx, version, node.publisher_id);
  if (body.status) {
    await changeVersionStatus(tx, {
      versionId: version.id,
      to: body.status,
      right: 'admin',
      actor: toActor(caller),
      ...(body.status_reason && { reason: body.status_reason }),
      now: context.now(),
    });
    if (body.status === 'NodeVersionStatusActive')
      await applyNodeUpdate(tx, { actor: toActor(caller), context }, { node, version });
  }
  const now = await getVisibleVersion(access, params);
  return viewVersion(access, now.version, node.publisher_id);
};

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
  await updateRows(tx, 'versions', { id: version.id }, { details });
  await recordAction(call, tx, { kind: 'version', id: version.id, publisherId, action: 'version.update' });
}

// Decided: a policy applies to the definition of one version; in the next version it is Active again.
const setHostNodePolicy: Write<'admin.hostNode.setPolicy'> = async (call, tx) => {
  const { policy } = call.body;
  const { nodeId, version, hostNodeName } = call.params;
  const { versionId, publisherId, view } = await findHostNode(await openAccess(call, tx), call.params);
  if (view.policy === policy) return view;
  await updateRows(tx, 'host_nodes', { version_id: versionId, name: hostNodeName }, { policy });
  const id = `${nodeId}@${version}/${hostNodeName}`;
  const event = { kind: 'host_node', id, publisherId, action: 'host_node.policy', status: policy } as const;
  await recordAction(call, tx, event);
  return { ...view, policy };
};

// Decided: a ban hides a publisher's nodes without changing them, so that lifting it restores them unchanged.
const setPublisher: Write<'admin.publisher.set'> = async (call, tx) => {
  const before = await getVisiblePublisher(await openAccess(call, tx), call.params.publisherId);
  const { id } = before;
  const { status } = call.body;
  // The same status may be given with a new reason.
  const isChange = status !== before.status;
  const reason = call.body.reason ?? (isChange ? '' : (before.status_reason ?? ''));
  if (isChange || reason !== (before.status_reason ?? '')) {
    const status_reason = reason || null;
    await updateRows(tx, 'publishers', { id }, { status, status_reason });
    if (isChange) await refreshNodes(tx, id);
    const event = { kind: 'publisher', id, publisherId: id, action: 'publisher.status', status } as const;
    await recordAction(call, tx, { ...event, reason: reason || undefined });
  }
  return getPublisherView(call, tx, id);
};

const generateAdminToken: Write<'admin.generateToken'> = async (call, tx) => {
  const { token, jti, expiresAt } = await createAdminToken(tx, call.context, call.caller.userId as string);
  await recordAction(call, tx, { kind: 'admin_token', id: jti, action: 'admin_token.create' });
  return { expires_at: expiresAt, token };
};

const listAdminTokens: Read<'admin.token.list'> = async ({ context }, database) => {
  const rows = await database
    .selectFrom('admin_tokens')
    .innerJoin('users', 'users.id', 'admin_tokens.user_id')
    .select(['jti', 'user_id as by', 'email', 'admin_tokens.created_at', 'expires_at'])
    .where('expires_at', '>', new Date(context.now()).toISOString())
    .orderBy('admin_tokens.created_at', 'desc')
    .orderBy('jti')
    .execute();
  return rows.map(({ email, ...token }) => ({ ...token, by_email: email ?? undefined }));
};

// Decided: a revoked admin token is deleted, like a personal access token; the audit log keeps that it was.
const revokeAdminToken: Write<'admin.token.revoke'> = async (call, tx) => {
  const { jti } = call.params;
  const deleted = await deleteRows(tx, 'admin_tokens', { jti });
  if (deleted === 0) throw new Refused('not_found', `There is no admin token ${jti}.`);
  await recordAction(call, tx, { kind: 'admin_token', id: jti, action: 'admin_token.revoke' });
};

/** Lists versions of all nodes by their status, the oldest first: those that wait longest. */
const listForReview: Read<'admin.review'> = async (call, database) => {
  const { page, pageSize, statuses, nodeId } = call.query;
  const offset = requireReachablePage({ page, limit: pageSize });
  const access = await openAccess(call, database);
  const waiting = database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .where('versions.status', 'in', statuses)
    .$if(nodeId !== undefined, (all) => all.where('versions.node_id', '=', nodeId as string));
  const ordered = waiting
    .orderBy('versions.created_at')
    .orderBy('versions.id')
    .limit(pageSize)
    .offset(offset);
  const rows = await readPage(pageSize, (part) => {
    const { texts, bytes, isCut } = limitColumns([{ name: 'versions.details', most: sql`${part}` }]);
    return ordered
      .select(['versions.id', 'versions.node_id', 'versions.version', 'versions.status', 'status_reason'])
      .select([
        'extract_status',
        'archive_sha256',
        'provenance',
        'approve_by',
        'versions.created_at',
        'nodes.publisher_id',
        bytes,
        isCut,
      ])
      .select(texts.map((text) => text.as('details')))
      .execute();
  });
  const total = await countRows(waiting);
  return {
    versions: rows.map(({ publisher_id, ...row }) => viewVersion(access, row, publisher_id)),
    total,
    page,
    pageSize,
    totalPages: countPages(total, pageSize),
  };
};

export const adminHandlers = {
  'admin.node.set': { write: setNode },
  'admin.version.setStatus': { write: setVersionStatus },
  'admin.hostNode.setPolicy': { write: setHostNodePolicy },
  'admin.publisher.set': { write: setPublisher },
  'admin.generateToken': { write: generateAdminToken },
  'admin.token.list': { read: listAdminTokens },
  'admin.token.revoke': { write: revokeAdminToken },
  'admin.review': { read: listForReview },
} satisfies Partial<Handlers>;
