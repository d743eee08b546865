import { randomUUID } from 'node:crypto';
import { findToken, parseTokenLimit, recordUse, refuseOtherNodes } from '../auth/random-tokens.js';
import { findRestDays } from '../auth/users.js';
import type { Actor } from '../database/audit-log.js';
import { findRow, getRow, insertRow, type Tx, updateRows } from '../database/database.js';
import type { NodeRow, PersonalAccessTokenRow, VersionRow } from '../database/schema.js';
import type { Handlers, OperationAnswer, OperationCall, Write } from '../operation/call.js';
import { takeDailyQuota } from '../operation/quota.js';
import { Refused } from '../operation/refused.js';
import { createUploadUrl, getDownloadUrl } from '../operation/signed-urls.js';
import { findNodeInAnySpelling, getOwnNode, openAccess, refuseClosedNode, requireSameIds } from './access.js';
import { forgetDefinitions } from './definitions.js';
import { pickVersionDetails, refuseLargeFields } from './details.js';
import { duplicateNode, insertNode, patchNode, writeNodeUpdate } from './nodes.js';
import {
  canRegisterAgain,
  changeVersionStatus,
  recordVersionStatus,
  versionNumberUsed,
} from './version-states.js';
import { viewVersion } from './views.js';

type PublishCall = OperationCall<'version.publish'>;
type Published = OperationAnswer<'version.publish'>;

// Decided: one transaction writes the node, registers the version as Pending and issues its signedUrl.
const publishVersion: Write<'version.publish'> = async (call, tx) => {
  const { params, body, context } = call;
  requireSameIds(
    { path: 'node.id', given: body.node.id, expected: params.nodeId },
    { path: 'node_version.node_id', given: body.node_version.node_id, expected: params.nodeId },
  );
  const token = await requireToken(call, tx);
  const actor = { userId: getRegistrant(call, token), tokenId: token.id };
  const isStaged = body.stage || token.stage === 1;
  const { node, node_update } = await createOrPatchNode(call, tx, { actor, isStaged });
  const row = await registerVersion(call, tx, node, {
    ...{ actor, provenance: token.provenance, node_update },
    approve_by: isStaged ? new Date(context.now() + APPROVAL_MS).toISOString() : null,
  });
  await context.queue.enqueue(tx, {
    kind: 'abandon-version',
    key: row.id,
    owner: params.publisherId,
    runAt: context.now() + context.configuration.limits.uploadAbandonedSeconds * 1000,
  });
  return {
    node_version: viewVersion(await openAccess(call, tx), row, params.publisherId),
    signedUrl: createSignedUrl(call, row.id, token),
    token_expires_at: endsSoon(token, context.now()) ? token.expires_at : undefined,
  };
};

/** Decided: a publish says so two weeks before its token expires, so that it is replaced in time. */
const SOON_MS = 14 * 24 * 60 * 60_000;

function endsSoon({ expires_at, trust_id }: PersonalAccessTokenRow, now: number): boolean {
  return trust_id === null && Date.parse(expires_at) - now < SOON_MS;
}

/** Stored answers do not contain the upload URL. */
function removeSignedUrl(answer: Published): Published {
  return { ...answer, signedUrl: '' };
}

// Decided: a replayed publish gets a new signedUrl, if its token is valid and its node not banned or deleted.
async function replayPublish(call: PublishCall, tx: Tx, stored: Published): Promise<Published> {
  const token = await requireToken(call, tx);
  const { publisherId, nodeId } = call.params;
  const node = await getOwnNode(tx, publisherId, nodeId);
  refuseClosedNode(node);
  const { version } = call.body.node_version;
  return {
    node_version: {
      ...stored.node_version,
      downloadUrl: getDownloadUrl(call.context, { publisherId, nodeId, version }),
    },
    signedUrl: createSignedUrl(call, stored.node_version.id as string, token),
  };
}

function createSignedUrl(call: PublishCall, versionId: string, token: PersonalAccessTokenRow): string {
  const { params, body, context } = call;
  const name = { ...params, version: body.node_version.version };
  return createUploadUrl(context, name, {
    versionId,
    registrant: getRegistrant(call, token),
    tokenId: token.id,
  });
}

function getRegistrant({ caller }: PublishCall, token: PersonalAccessTokenRow): string {
  return caller.userId ?? token.created_by;
}

// Decided: besides the Authorization header, the body's token must be valid and for this publisher.
async function requireToken({ params, body, context }: PublishCall, tx: Tx): Promise<PersonalAccessTokenRow> {
  const token = await findToken(tx, 'personal_access_tokens', body.personal_access_token, context.now());
  const isResting = token && (await findRestDays(context, tx, token.created_by)) !== undefined;
  if (token?.publisher_id === params.publisherId && !isResting) {
    refuseOtherNodes(parseTokenLimit(token.nodes), params.nodeId);
    await recordUse(tx, 'personal_access_tokens', token.id, context.now());
    return token;
  }
  const message = isResting
    ? 'rests until its owner signs in'
    : token
      ? `is not for the publisher ${params.publisherId}`
      : 'is unknown, expired or revoked';
  throw new Refused(
    'invalid_personal_access_token',
    isResting
      ? `The personal access token ${message}.`
      : `The personal access token ${message}; create one for the publisher ${params.publisherId}.`,
    [{ path: 'personal_access_token', message }],
  );
}

// Decided: what a staged version says of its node is shown once the version is approved; a new node is only its id until then.
async function createOrPatchNode(
  { params, body, caller: { admin: byAdmin }, context }: PublishCall,
  tx: Tx,
  { actor, isStaged }: { readonly actor: Actor; readonly isStaged: boolean },
): Promise<{ readonly node: NodeRow; readonly node_update: string | null }> {
  const author = { actor, byAdmin, context };
  const fields = { ...body.node, name: body.node.name || undefined };
  const node_update = isStaged ? writeNodeUpdate(fields) : null;
  const existing = await findNodeInAnySpelling(tx, params.nodeId);
  if (!existing) return { node: await insertNode(tx, author, params, isStaged ? {} : fields), node_update };
  if (existing.publisher_id !== params.publisherId) throw duplicateNode(existing.id);
  refuseClosedNode(existing);
  if (existing.id !== params.nodeId) throw duplicateNode(existing.id);
  return { node: isStaged ? existing : await patchNode(tx, author, existing, fields), node_update };
}

/** Decided: how long a staged version waits for the approval of an owner. */
const APPROVAL_MS = 14 * 24 * 60 * 60_000;

/** Who registers a version, what the CI job is that does, and until when an owner may approve it. */
interface Registrant extends Pick<VersionRow, 'provenance' | 'approve_by' | 'node_update'> {
  readonly actor: Actor;
}

async function registerVersion(
  { body, context }: PublishCall,
  tx: Tx,
  node: NodeRow,
  { actor, ...facts }: Registrant,
): Promise<VersionRow> {
  const { version } = body.node_version;
  const given = pickVersionDetails(body.node_version);
  refuseLargeFields(given, 'node_version');
  const details = JSON.stringify(given);
  const existing = await findRow(tx, 'versions', { node_id: node.id, version });
  if (!existing) {
    const demand = { publisherId: node.publisher_id, quota: 'versionsPerDay', amount: 1 } as const;
    await takeDailyQuota(tx, context, demand);
    return insertVersion(tx, { node_id: node.id, version, details, ...facts }, actor, context.now());
  }
  if (!canRegisterAgain(existing)) throw versionNumberUsed(existing);
  // Also from Pending to Pending, so that the history has the last registration.
  await changeVersionStatus(tx, {
    versionId: existing.id,
    to: 'NodeVersionStatusPending',
    right: 'registration',
    actor,
    now: context.now(),
  });
  await updateRows(tx, 'versions', { id: existing.id }, { details, ...facts });
  await forgetDefinitions(tx, existing.id);
  return getRow(tx, 'versions', { id: existing.id });
}

async function insertVersion(
  tx: Tx,
  given: Pick<VersionRow, 'node_id' | 'version' | 'details' | Exclude<keyof Registrant, 'actor'>>,
  actor: Actor,
  now: number,
): Promise<VersionRow> {
  const row: VersionRow = {
    ...given,
    id: randomUUID(),
    status: 'NodeVersionStatusPending',
    status_reason: null,
    extract_status: 'pending',
    archive_size: null,
    archive_sha256: null,
    archive_tree: null,
    archive_key: null,
    uploaded_at: null,
    created_at: new Date(now).toISOString(),
  };
  await insertRow(tx, 'versions', row);
  await recordVersionStatus(tx, { versionId: row.id, to: 'NodeVersionStatusPending', actor, now });
  return row;
}

export const publishHandlers = {
  'version.publish': { write: publishVersion, keep: removeSignedUrl, replay: replayPublish },
} satisfies Partial<Handlers>;
