import { ClientError } from '../../client/errors.js';
import { formatDetail, formatReason, parseReason } from '../../contract/parse-reason.js';
import { readStatusWord } from '../../contract/status-names.js';
import type { BuiltArchive } from '../../pack/archive.js';
import { FlowError } from '../flow-error.js';
import { compareUploaded, type NodeVersion, readVersion, type VersionContext } from './published.js';

/** What is left to do for a version. */
export type NextStep =
  | { readonly step: 'register' }
  /** The upload is complete; the registry is checking it. */
  | { readonly step: 'wait'; readonly version: NodeVersion }
  /** The same files are already published. */
  | { readonly step: 'done'; readonly version: NodeVersion };

/**
 * Compares the version in the registry with the archive.
 * @throws FlowError if the number is used by other files, by a deleted version, or by a flagged or banned one
 */
export async function findNextStep(
  subject: VersionContext,
  archive: BuiltArchive,
  scratch: string,
): Promise<NextStep> {
  const version = await readVersion(subject);
  if (!version || version.from_uplink) return { step: 'register' };
  const name = `${subject.nodeId} ${subject.version}`;
  switch (version.status) {
    case 'NodeVersionStatusFlagged':
    case 'NodeVersionStatusBanned':
      await refuseOtherFiles(subject, version, archive, scratch);
      throw toVerdictError(subject, await readReason(subject, version), WAITS);
    case 'NodeVersionStatusDeleted':
      if (version.status_reason === 'no_archive') return { step: 'register' };
      throw new FlowError('version_exists', `${name} was deleted; its number cannot be used again.`);
  }
  const uploaded = await compareUploaded(subject, version.downloadUrl, archive, scratch);
  if (uploaded === 'nothing') return { step: 'register' };
  if (uploaded === 'other') {
    await requirePublisher(subject);
    throw new FlowError('version_exists', `${name} is already published with other files.`);
  }
  return isSettled(version) ? { step: 'done', version } : { step: 'wait', version };
}

/** @throws FlowError if the node is of another publisher than the manifest says */
async function requirePublisher({ client, nodeId, publisherId, signal }: VersionContext): Promise<void> {
  const { publisher } = await client.node.get({ nodeId }, { signal });
  if (publisherId === undefined || publisher?.id === undefined || publisher.id === publisherId) return;
  const message = `${nodeId} is a node of the publisher ${publisher.id}, and PublisherId in pyproject.toml is ${publisherId}.`;
  throw new FlowError('invalid_pack', message);
}

/** What the checks found in other files than those of the archive would mislead. */
async function refuseOtherFiles(
  subject: VersionContext,
  { status, downloadUrl }: NodeVersion,
  archive: BuiltArchive,
  scratch: string,
): Promise<void> {
  const uploaded = await compareUploaded(subject, downloadUrl, archive, scratch).catch((error) => {
    // Some registries do not show the archive; the verdict is known all the same.
    if (error instanceof ClientError) return 'nothing';
    throw error;
  });
  if (uploaded !== 'other') return;
  const is = `was uploaded with other files, and is ${readStatusWord(status as string)}`;
  throw new FlowError('version_exists', `${subject.nodeId} ${subject.version} ${is}.`);
}

/** Whether the registry has finished its checks of a version. */
export function isSettled({ status, host_node_extract_status }: NodeVersion): boolean {
  if (status === 'NodeVersionStatusPending') return false;
  return status !== 'NodeVersionStatusActive' || host_node_extract_status !== 'pending';
}

/** Whether a version has passed its checks and waits for an owner. */
export function isStaged({ status, approve_by, host_node_extract_status }: NodeVersion): boolean {
  const isChecked = host_node_extract_status !== undefined && host_node_extract_status !== 'pending';
  return status === 'NodeVersionStatusPending' && approve_by !== undefined && isChecked;
}

/** Reads the reason of a verdict where the registry leaves it out: some give it in the list of versions only. */
export async function readReason(
  { client, nodeId, signal }: Pick<VersionContext, 'client' | 'nodeId' | 'signal'>,
  version: NodeVersion,
): Promise<NodeVersion> {
  if (version.status_reason) return version;
  try {
    const listed = await client.version.list({ nodeId }, { signal });
    const status_reason = listed.find((one) => one.version === version.version)?.status_reason;
    return { ...version, status_reason };
  } catch (error) {
    // Without the list, the verdict is known all the same.
    if (error instanceof ClientError) return version;
    throw error;
  }
}

/** What a publisher needs to know of a version that is flagged. */
export const WAITS = 'was uploaded, is Flagged, and waits for a review by an admin';

/**
 * The error for a version that the registry flagged or banned.
 * @param flagged what is said of a flagged one
 */
export function toVerdictError(
  { nodeId }: Pick<VersionContext, 'nodeId'>,
  { version, status, status_reason }: NodeVersion,
  flagged = 'is Flagged',
): FlowError {
  const verdict = readStatusWord(status ?? 'unknown');
  const is = status === 'NodeVersionStatusFlagged' ? flagged : `is ${verdict}`;
  const { message, details } = explainVerdict(`${nodeId} ${version} ${is}`, status_reason);
  const facts = { serviceCode: `version_${verdict.toLowerCase()}`, subject: `${nodeId} ${version}` };
  return new FlowError('version_flagged', message, { ...facts, details });
}

/** Adds the reason of a verdict to a sentence about it; several findings are details. */
export function explainVerdict(sentence: string, reason: string | undefined) {
  const reasons = parseReason(reason ?? '');
  const [first] = reasons;
  if (reasons.length < 2)
    return { message: `${sentence}: ${first ? formatReason(first) : 'the registry gives no reason'}` };
  const details = reasons.map(({ where, ...rest }) => ({ path: where, message: formatDetail(rest) }));
  return { message: `${sentence}.`, details };
}
