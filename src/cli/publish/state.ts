import { inc } from 'semver';
import type { BuiltArchive } from '../../pack/archive.js';
import { exitCodes, Failure } from '../terminal/failure.js';
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
 * @throws Failure if the number is used by other files, by a deleted version, or by a flagged or banned one
 */
export async function findNextStep(
  subject: VersionContext,
  archive: BuiltArchive,
  scratch: string,
): Promise<NextStep> {
  const version = await readVersion(subject);
  if (!version) return { step: 'register' };
  const name = `${subject.nodeId} ${subject.version}`;
  switch (version.status) {
    case 'NodeVersionStatusFlagged':
    case 'NodeVersionStatusBanned':
      throw toVerdictFailure(subject, version);
    case 'NodeVersionStatusDeleted':
      if (version.status_reason === 'no_archive') return { step: 'register' };
      throw toConflict(`${name} was deleted; its number cannot be used again.`, subject);
  }
  const uploaded = await compareUploaded(subject, version.downloadUrl, archive, scratch);
  if (uploaded === 'nothing') return { step: 'register' };
  if (uploaded === 'other') throw toConflict(`${name} is already published with other files.`, subject);
  return isSettled(version) ? { step: 'done', version } : { step: 'wait', version };
}

/** Whether the registry has finished its checks of a version. */
export function isSettled({ status, host_node_extract_status }: NodeVersion): boolean {
  if (status === 'NodeVersionStatusPending') return false;
  return status !== 'NodeVersionStatusActive' || host_node_extract_status !== 'pending';
}

/** The failure for a version that the registry flagged or banned. */
export function toVerdictFailure(
  { nodeId }: Pick<VersionContext, 'nodeId'>,
  { version, status, status_reason }: NodeVersion,
): Failure {
  const verdict = (status ?? 'unknown').replace('NodeVersionStatus', '');
  return new Failure(
    `${nodeId} ${version} is ${verdict}: ${status_reason ?? 'the registry gives no reason'}`,
    {
      code: `version_${verdict.toLowerCase()}`,
      exit: exitCodes.endedBadly,
      hint: 'Fix it, and publish it with the next version number; this one is used up.',
    },
  );
}

function toConflict(message: string, { version }: VersionContext): Failure {
  return new Failure(message, {
    code: 'version_exists',
    exit: exitCodes.conflict,
    hint: `Change the version to ${inc(version, 'patch')}, or any unused one, and publish again.`,
  });
}
