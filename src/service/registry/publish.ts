import { randomUUID } from 'node:crypto';
import {
  findPersonalAccessToken,
  noteUse,
  type PersonalAccessTokenRow,
} from '../auth/personal-access-tokens.js';
import type { Context, Tx } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { downloadUrl, signUpload } from '../http/signed-urls.js';
import { Refused } from '../refused.js';
import { forgetDefinitions } from './definitions.js';
import { refuseLarge, versionDetailsGiven } from './details.js';
import type { NodeRow } from './node-view.js';
import { duplicate, insertNode, patchNode } from './nodes.js';
import { nodeInAnySpelling, ownNode, refuseBanned, refuseDeleted } from './own.js';
import { requireSameIds } from './same-id.js';
import { sightOf } from './sight.js';
import { used } from './upload-target.js';
import { mayRegisterAgain, recordStatus, transition } from './version-states.js';
import { type VersionRow, versionView } from './version-view.js';

type PublishCall = Call<'version.publish'>;
type Published = Answer<'version.publish'>;

// Decided: one transaction creates or patches the node, registers the version as Pending and issues its signedUrl.
export async function publishVersion(call: PublishCall, tx: Tx): Promise<Published> {
  const { params, body, caller, context } = call;
  requireSameIds(
    { path: 'node.id', given: body.node.id, expected: params.nodeId },
    { path: 'node_version.node_id', given: body.node_version.node_id, expected: params.nodeId },
  );
  const token = await requireToken(call, tx);
  const actor = caller.userId ?? token.created_by;
  const node = await createOrPatchNode(call, tx, actor);
  const row = await register(call, tx, node, actor);
  await context.queue.enqueue(tx, {
    kind: 'abandon-version',
    key: row.id,
    runAt: context.now() + context.configuration.limits.uploadAbandonedSeconds * 1000,
  });
  const sight = await sightOf(tx, caller);
  return {
    node_version: versionView(context, sight, row, params.publisherId),
    signedUrl: signedUrl(call, row.id),
  };
}

/** A stored answer holds no URL that lets somebody upload. */
export function withoutSignedUrl(answer: Published): Published {
  return { ...answer, signedUrl: '' };
}

// Decided: a replayed publish issues its signedUrl anew, to a caller who still holds a valid token, and whose node is
// neither banned nor deleted.
export async function replayPublished(call: PublishCall, tx: Tx, stored: Published): Promise<Published> {
  await requireToken(call, tx);
  const { publisherId, nodeId } = call.params;
  const node = await ownNode(tx, publisherId, nodeId);
  refuseDeleted(node);
  refuseBanned(node);
  const { version } = call.body.node_version;
  return {
    node_version: {
      ...stored.node_version,
      downloadUrl: downloadUrl(call.context, { publisherId, nodeId, version }),
    },
    signedUrl: signedUrl(call, stored.node_version.id as string),
  };
}

function signedUrl({ params, body, context }: PublishCall, versionId: string): string {
  const { publisherId, nodeId } = params;
  return signUpload(context, { publisherId, nodeId, version: body.node_version.version, versionId });
}

// Decided: besides the Authorization header, the body's personal_access_token must be valid, for this publisher.
async function requireToken({ params, body, context }: PublishCall, tx: Tx): Promise<PersonalAccessTokenRow> {
  const token = await findPersonalAccessToken(tx, body.personal_access_token, context.now());
  if (token?.publisher_id === params.publisherId) {
    await noteUse(tx, token, context.now);
    return token;
  }
  const message = token
    ? `is for another publisher than ${params.publisherId}`
    : 'is unknown, expired or revoked';
  throw new Refused(
    'invalid_personal_access_token',
    `The personal access token ${message}; create one for the publisher ${params.publisherId}.`,
    [{ path: 'personal_access_token', message }],
  );
}

async function createOrPatchNode(
  { params, body, context }: PublishCall,
  tx: Tx,
  actor: string,
): Promise<NodeRow> {
  const author = { actor, now: context.now };
  const known = await nodeInAnySpelling(tx, params.nodeId);
  if (!known) return insertNode(tx, { ...author, publisherId: params.publisherId }, params.nodeId, body.node);
  if (known.publisher_id !== params.publisherId) throw duplicate(known.id);
  refuseDeleted(known);
  refuseBanned(known);
  if (known.id !== params.nodeId) throw duplicate(known.id);
  return patchNode(tx, author, known, body.node);
}

async function register(
  { body, context }: PublishCall,
  tx: Tx,
  node: NodeRow,
  actor: string,
): Promise<VersionRow> {
  const { version } = body.node_version;
  const given = versionDetailsGiven(body.node_version);
  refuseLarge(given, 'node_version');
  const details = JSON.stringify(given);
  const known = await findVersion(tx, node.id, version);
  if (!known) return insertVersion(tx, context.now(), { node, version, details, actor });
  if (!mayRegisterAgain(known)) throw used(known);
  // From Pending to Pending too: the history tells when the number was last registered.
  await transition(tx, {
    versionId: known.id,
    to: 'NodeVersionStatusPending',
    right: 'registration',
    actor,
    now: context.now(),
  });
  await tx.updateTable('versions').set({ details }).where('id', '=', known.id).execute();
  await forgetDefinitions(tx, known.id);
  return (await findVersion(tx, node.id, version)) as VersionRow;
}

function findVersion(tx: Tx, nodeId: string, version: string): Promise<VersionRow | undefined> {
  return tx
    .selectFrom('versions')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('version', '=', version)
    .executeTakeFirst();
}

interface NewVersion {
  readonly node: NodeRow;
  readonly version: string;
  readonly details: string;
  readonly actor: string;
}

async function insertVersion(
  tx: Tx,
  now: ReturnType<Context['now']>,
  { node, version, details, actor }: NewVersion,
): Promise<VersionRow> {
  const row: VersionRow = {
    id: randomUUID(),
    node_id: node.id,
    version,
    details,
    status: 'NodeVersionStatusPending',
    status_reason: null,
    extract_status: 'pending',
    archive_size: null,
    archive_sha256: null,
    archive_tree: null,
    uploaded_at: null,
    created_at: new Date(now).toISOString(),
  };
  await tx.insertInto('versions').values(row).execute();
  await recordStatus(tx, { versionId: row.id, status: 'NodeVersionStatusPending', actor, now });
  return row;
}
