import type { Selectable } from 'kysely';
import type { Tx } from '../context.js';
import type { VersionTable } from '../database/schema.js';
import { Refused } from '../refused.js';
import { compareVersions, isPreRelease } from './version-order.js';

export type VersionStatus = `NodeVersionStatus${'Active' | 'Deleted' | 'Banned' | 'Pending' | 'Flagged'}`;

/** `status_reason` of a version that was deleted before anything was uploaded; only such a number is given out again. */
export const noArchive = 'no_archive';

/**
 * In whose right a status changes: `registration` a publish request, `owner` a delete request, `admin` an admin's
 * verdict, `service` the jobs.
 */
export type Right = 'registration' | 'owner' | 'admin' | 'service';

export interface Transition {
  readonly versionId: string;
  readonly to: VersionStatus;
  readonly right: Right;
  /** A user id, or `service`. */
  readonly actor: string;
  readonly reason?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type Version = Selectable<VersionTable>;

// Decided: owner any → Deleted; admin anything but Deleted → Active, Flagged, Banned; the service leaves Pending once;
// a number is registered again while nothing was ever uploaded. Else invalid_transition.
const allowed: Record<Right, (version: Version, to: VersionStatus) => boolean> = {
  owner: (_, to) => to === 'NodeVersionStatusDeleted',
  // Nothing is Active without an archive; judged before it came, it never comes.
  admin: ({ status, uploaded_at }, to) =>
    status !== 'NodeVersionStatusDeleted' &&
    (to === 'NodeVersionStatusFlagged' ||
      to === 'NodeVersionStatusBanned' ||
      (to === 'NodeVersionStatusActive' && uploaded_at !== null)),
  service: ({ status, uploaded_at }, to) =>
    status === 'NodeVersionStatusPending' &&
    (uploaded_at === null
      ? to === 'NodeVersionStatusDeleted'
      : to === 'NodeVersionStatusActive' || to === 'NodeVersionStatusFlagged'),
  registration: (version, to) => to === 'NodeVersionStatusPending' && mayRegisterAgain(version),
};

// Decided: Pending with nothing uploaded, or Deleted as no_archive, is registered again; anything once uploaded never is.
export function mayRegisterAgain({
  status,
  status_reason,
  uploaded_at,
}: Pick<Version, 'status' | 'status_reason' | 'uploaded_at'>): boolean {
  if (uploaded_at !== null) return false;
  if (status === 'NodeVersionStatusDeleted') return status_reason === noArchive;
  return status === 'NodeVersionStatusPending';
}

/**
 * Changes a version's status, keeps the change in the history and the node's latest version right.
 * Deleting what is deleted changes nothing.
 * @throws Refused not_found, invalid_transition
 */
export async function transition(tx: Tx, change: Transition): Promise<void> {
  const version = await tx
    .selectFrom('versions')
    .selectAll()
    .where('id', '=', change.versionId)
    .executeTakeFirst();
  if (!version) throw new Refused('not_found', 'There is no such version.');
  if (!allowed[change.right](version, change.to)) {
    const bare = change.to === 'NodeVersionStatusActive' && version.uploaded_at === null;
    throw new Refused(
      'invalid_transition',
      `Version ${version.version} is ${short(version.status)}${bare ? ' without an archive' : ''} and cannot become ${short(change.to)}.`,
    );
  }
  const deleted = change.to === 'NodeVersionStatusDeleted';
  if (deleted && version.status === change.to) return;
  // Deleting what an admin banned or flagged does not free its number.
  const free = deleted && mayRegisterAgain(version);
  const reason = free ? noArchive : change.reason;
  await tx
    .updateTable('versions')
    .set({ status: change.to, status_reason: reason ?? null })
    .where('id', '=', version.id)
    .execute();
  await recordStatus(tx, { ...change, status: change.to, reason });
  await refreshLatest(tx, version.node_id);
}

export interface StatusRecord {
  readonly versionId: string;
  readonly status: VersionStatus;
  readonly actor: string;
  readonly reason?: string;
  readonly now: number;
}

/** Appends to a version's history; `transition` does it by itself, so this is for a row just inserted. */
export async function recordStatus(tx: Tx, record: StatusRecord): Promise<void> {
  await tx
    .insertInto('events')
    .values({
      at: new Date(record.now).toISOString(),
      actor: record.actor,
      subject_kind: 'version',
      subject_id: record.versionId,
      action: 'version.status',
      status: record.status,
      reason: record.reason ?? null,
    })
    .execute();
}

export interface Uploaded {
  readonly versionId: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly now: number;
}

/**
 * Notes that the archive of a version still Pending has come. The row is locked from here to the transaction's end.
 * @returns false, with nothing changed, where the version is no longer Pending or has its archive already
 */
export async function markUploaded(tx: Tx, { versionId, size, sha256, now }: Uploaded): Promise<boolean> {
  const at = new Date(now).toISOString();
  const { numUpdatedRows } = await tx
    .updateTable('versions')
    .set({ archive_size: size, archive_sha256: sha256, uploaded_at: at, status_reason: null })
    .where('id', '=', versionId)
    .where('status', '=', 'NodeVersionStatusPending')
    .where('uploaded_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Says on a version still Pending why it is not further; part of no history, because nothing changed. */
export async function explainPending(tx: Tx, versionId: string, reason: string | null): Promise<void> {
  await tx
    .updateTable('versions')
    .set({ status_reason: reason })
    .where('id', '=', versionId)
    .where('status', '=', 'NodeVersionStatusPending')
    .execute();
}

/** Sets a node's latest version anew; to be called after anything that its choice depends on. */
export async function refreshLatest(tx: Tx, nodeId: string): Promise<void> {
  const candidates = await tx
    .selectFrom('versions')
    .select(['id', 'version', 'details'])
    .where('node_id', '=', nodeId)
    .where('status', '=', 'NodeVersionStatusActive')
    .execute();
  const latest = candidates.sort(latestFirst)[0];
  await tx
    .updateTable('nodes')
    .set({ latest_version_id: latest?.id ?? null })
    .where('id', '=', nodeId)
    .execute();
}

type Candidate = Pick<Version, 'version' | 'details'>;

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

function short(status: string): string {
  return status.replace('NodeVersionStatus', '');
}
