import { readStatusWord } from '../../contract/status-names.js';
import { type Actor, recordEvent } from '../database/audit-log.js';
import {
  compileOnce,
  type Database,
  findRow,
  findRows,
  getRow,
  type Tx,
  updateRows,
} from '../database/database.js';
import type { VersionRow } from '../database/schema.js';
import { Refused } from '../operation/refused.js';
import type { StoredObject } from '../storage/storage.js';
import { refreshListing } from './listed-host-nodes.js';
import { compareVersions, isPreRelease } from './version-order.js';

export type VersionStatus = `NodeVersionStatus${'Active' | 'Deleted' | 'Banned' | 'Pending' | 'Flagged'}`;

/** The `status_reason` of a version deleted before any upload; only such a number can be registered again. */
const NO_ARCHIVE = 'no_archive';

/**
 * Who changes a status: `registration` a publish, `owner` a delete, `approval` an owner who approves what is staged, `admin`
 * an admin request, `service` a job.
 */
export type TransitionRight = 'registration' | 'owner' | 'approval' | 'admin' | 'service';

export interface VersionTransition {
  readonly versionId: string;
  readonly to: VersionStatus;
  readonly right: TransitionRight;
  readonly actor: Actor;
  readonly reason?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

// Decided: owner: any → Deleted. Admin: all but Deleted → Active, Flagged, Banned. Service: out of Pending,
// once. Registration: again, while nothing was ever uploaded. Approval: Pending → Active, if it is staged and has
// passed its checks; the service then only flags it, or deletes it without approval. Anything else is
// invalid_transition.
const TRANSITION_RULES: Record<TransitionRight, (version: VersionRow, to: VersionStatus) => boolean> = {
  owner: (_, to) => to === 'NodeVersionStatusDeleted',
  // No version is Active without a checked archive; one that gets a status before its upload never gets one.
  admin: ({ status, archive_tree }, to) =>
    status !== 'NodeVersionStatusDeleted' &&
    (to === 'NodeVersionStatusFlagged' ||
      to === 'NodeVersionStatusBanned' ||
      (to === 'NodeVersionStatusActive' && archive_tree !== null)),
  approval: ({ status, approve_by, archive_tree }, to) =>
    to === 'NodeVersionStatusActive' &&
    status === 'NodeVersionStatusPending' &&
    approve_by !== null &&
    archive_tree !== null,
  service: ({ status, uploaded_at, approve_by }, to) =>
    status === 'NodeVersionStatusPending' &&
    (uploaded_at === null
      ? to === 'NodeVersionStatusDeleted'
      : to === 'NodeVersionStatusFlagged' ||
        to === (approve_by === null ? 'NodeVersionStatusActive' : 'NodeVersionStatusDeleted')),
  registration: (version, to) => to === 'NodeVersionStatusPending' && canRegisterAgain(version),
};

// Decided: Pending without an upload, or Deleted as no_archive, can be registered again; others never can.
export function canRegisterAgain({
  status,
  status_reason,
  uploaded_at,
}: Pick<VersionRow, 'status' | 'status_reason' | 'uploaded_at'>): boolean {
  if (uploaded_at !== null) return false;
  if (status === 'NodeVersionStatusDeleted') return status_reason === NO_ARCHIVE;
  return status === 'NodeVersionStatusPending';
}

/**
 * Changes a version's status, history and the node's latest version. Deleting a deleted version does nothing.
 * @throws Refused not_found, invalid_transition
 */
export async function changeVersionStatus(tx: Tx, change: VersionTransition): Promise<void> {
  const version = await findRow(tx, 'versions', { id: change.versionId });
  if (!version) throw new Refused('not_found', 'Version not found.');
  if (!TRANSITION_RULES[change.right](version, change.to)) {
    const isUnchecked = change.to === 'NodeVersionStatusActive' && version.archive_tree === null;
    const from = `${readStatusWord(version.status)}${isUnchecked ? ' without a checked archive' : ''}`;
    const message = `Version ${version.version} is ${from} and cannot become ${readStatusWord(change.to)}.`;
    throw new Refused('invalid_transition', message);
  }
  const deleted = change.to === 'NodeVersionStatusDeleted';
  if (deleted && version.status === change.to) return;
  // Deleting a banned or flagged version does not free its number.
  const free = deleted && canRegisterAgain(version);
  const reason = free ? NO_ARCHIVE : change.reason;
  // Decided: the verdict of an admin does not hide what the checks found, whose findings follow its reason.
  const findings = change.right === 'admin' ? await findFindings(tx, version) : undefined;
  const shown = [reason, findings].filter(Boolean).join('\n');
  await updateRows(tx, 'versions', { id: version.id }, { status: change.to, status_reason: shown || null });
  await recordVersionStatus(tx, { ...change, reason });
  if (change.to === 'NodeVersionStatusActive') await refreshLatest(tx, version.node_id, version.id);
  else if (version.status === 'NodeVersionStatusActive') await refreshLatest(tx, version.node_id);
}

/** What the checks found in a version: since its verdict that is in the history. */
async function findFindings(tx: Tx, version: VersionRow): Promise<string | null> {
  const { id, status, status_reason, archive_tree } = version;
  if (status === 'NodeVersionStatusPending') return archive_tree && status_reason;
  const [verdict] = await selectVerdicts(tx, id);
  return verdict?.reason ?? null;
}

const selectVerdicts = compileOnce((database, versionId: string) =>
  database
    .selectFrom('events')
    .select('reason')
    .where('subject_kind', '=', 'version')
    .where('subject_id', '=', versionId)
    .where('actor', '=', 'service')
    .orderBy('id', 'desc')
    .limit(1),
);

/** Appends to a version's history; for a new row only, because `changeVersionStatus` does this itself. */
export async function recordVersionStatus(tx: Tx, change: Omit<VersionTransition, 'right'>): Promise<void> {
  const { versionId: id, to: status, actor, reason, now } = change;
  const { node_id } = await getRow(tx, 'versions', { id });
  const { publisher_id: publisherId } = await getRow(tx, 'nodes', { id: node_id });
  const event = {
    kind: 'version',
    id,
    publisherId,
    action: 'version.status',
    status,
    reason,
    actor,
  } as const;
  await recordEvent(tx, () => now, event);
}

/** Finds the user who registered a version that is Pending. */
export async function findRegistrant(database: Database, versionId: string): Promise<string | undefined> {
  return (await selectRegistrants(database, versionId))[0]?.actor;
}

const selectRegistrants = compileOnce((database, versionId: string) =>
  database
    .selectFrom('events')
    .select('actor')
    .where('subject_kind', '=', 'version')
    .where('subject_id', '=', versionId)
    .where('status', '=', 'NodeVersionStatusPending')
    .orderBy('id', 'desc')
    .limit(1),
);

export interface UploadTarget
  extends Pick<VersionRow, 'version' | 'status' | 'archive_size' | 'archive_sha256'> {
  readonly publisher_id: string;
}

// Decided: a signed URL is invalid while its node or publisher is banned, once its node is deleted, and once
// its version got a status without an archive.
/**
 * Finds the version that an upload is for. Call it before the transfer and again with the commit.
 * @throws Refused not_found, banned, version_exists
 */
export async function getUploadTarget(database: Database, versionId: string): Promise<UploadTarget> {
  const [row] = await findTarget(database, versionId);
  if (!row || row.status === 'NodeVersionStatusDeleted')
    throw new Refused(
      'version_exists',
      'This version was deleted; register it again or use another version number.',
    );
  if (row.node_status === 'NodeStatusDeleted')
    throw new Refused('not_found', `The node ${row.node_id} was deleted and no longer accepts uploads.`);
  if (row.publisher_status === 'PublisherStatusBanned')
    throw new Refused('banned', `The publisher ${row.publisher_id} is banned.`);
  if (row.node_status === 'NodeStatusBanned')
    throw new Refused('banned', `The node ${row.node_id} is banned.`);
  if (row.archive_sha256 === null && row.status !== 'NodeVersionStatusPending') throw versionNumberUsed(row);
  return row;
}

const findTarget = compileOnce((database, versionId: string) =>
  database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .select(['versions.version', 'versions.status', 'archive_size', 'archive_sha256', 'node_id'])
    .select(['versions.status_reason', 'nodes.publisher_id'])
    .select(['nodes.status as node_status', 'publishers.status as publisher_status'])
    .where('versions.id', '=', versionId),
);

/** A version number is never used twice, not even after its version was deleted or banned. */
export function versionNumberUsed({
  version,
  status,
  status_reason,
}: Pick<VersionRow, 'version' | 'status' | 'status_reason'>): Refused {
  const reason = status_reason ? ` (${status_reason})` : '';
  return new Refused(
    'version_exists',
    `Version ${version} already exists and is ${readStatusWord(status)}${reason}; publish under another version number.`,
  );
}

export interface UploadedArchive {
  readonly versionId: string;
  readonly archive: StoredObject;
  readonly now: number;
}

/**
 * Records the upload of a Pending version. The row is locked until the end of the transaction.
 * @returns false, with nothing changed, if the version is no longer Pending or already has an archive
 */
export async function markUploaded(
  tx: Tx,
  { versionId, archive: { key, size, sha256 }, now }: UploadedArchive,
): Promise<boolean> {
  const updated = await updateRows(
    tx,
    'versions',
    { id: versionId, status: 'NodeVersionStatusPending', uploaded_at: null },
    {
      archive_key: key,
      archive_size: size,
      archive_sha256: sha256,
      uploaded_at: new Date(now).toISOString(),
      status_reason: null,
    },
  );
  return updated === 1;
}

/** Sets why a version is still Pending; not in the history, because the status does not change. */
export async function explainPending(tx: Tx, versionId: string, reason: string | null): Promise<void> {
  await updateRows(
    tx,
    'versions',
    { id: versionId, status: 'NodeVersionStatusPending' },
    { status_reason: reason },
  );
}

/**
 * Updates a node's latest version. Call it after a change of anything that determines it.
 * @param activated the version that became Active, if nothing else changed: only it can take the place of the latest one
 */
export async function refreshLatest(tx: Tx, nodeId: string, activated?: string): Promise<void> {
  const { latest_version_id: current } = await getRow(tx, 'nodes', { id: nodeId });
  const compared = activated === undefined || current === null ? [] : [current, activated];
  const candidates = await findRows(tx, 'versions', {
    node_id: nodeId,
    status: 'NodeVersionStatusActive',
    ...(compared.length > 0 && { id: compared }),
  });
  const latest = candidates.sort(latestFirst)[0];
  await updateRows(tx, 'nodes', { id: nodeId }, { latest_version_id: latest?.id ?? null });
  await refreshListing(tx, nodeId);
}

type Candidate = Pick<VersionRow, 'version' | 'details'>;

// Decided: stable before pre-release, not deprecated before deprecated, then the highest SemVer.
function latestFirst(left: Candidate, right: Candidate): number {
  return (
    Number(isPreRelease(left.version)) - Number(isPreRelease(right.version)) ||
    Number(isDeprecated(left)) - Number(isDeprecated(right)) ||
    compareVersions(right.version, left.version)
  );
}

function isDeprecated({ details }: Candidate): boolean {
  return (JSON.parse(details) as { deprecated?: boolean }).deprecated === true;
}
