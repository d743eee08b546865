import { inc } from 'semver';
import type { BuiltArchive } from '../../pack/archive.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { compareUploaded, type NodeVersion, readVersion, type Subject } from './published.js';

/** What is left to do for a version. */
export type Next =
  | { readonly step: 'register' }
  /** Everything is uploaded; the registry is at work on it. */
  | { readonly step: 'wait'; readonly version: NodeVersion }
  /** This very tree is published already. */
  | { readonly step: 'done'; readonly version: NodeVersion };

/**
 * Looks at what the registry has of this version.
 * @throws Failure where its number is used up: by another tree, by a deleted version, or ended badly
 */
export async function nextStep(subject: Subject, archive: BuiltArchive, scratch: string): Promise<Next> {
  const version = await readVersion(subject);
  if (!version) return { step: 'register' };
  const name = `${subject.nodeId} ${subject.version}`;
  switch (version.status) {
    case 'NodeVersionStatusFlagged':
    case 'NodeVersionStatusBanned':
      throw endedBadly(subject, version);
    case 'NodeVersionStatusDeleted':
      if (version.status_reason === 'no_archive') return { step: 'register' };
      throw toConflict(`${name} was deleted, and its number is not given out again.`, subject);
  }
  const uploaded = await compareUploaded(subject, version.downloadUrl, archive, scratch);
  if (uploaded === 'nothing') return { step: 'register' };
  if (uploaded === 'other') throw toConflict(`${name} is already published with other files.`, subject);
  return isSettled(version) ? { step: 'done', version } : { step: 'wait', version };
}

/** Whether the registry is through with a version, well or badly. */
export function isSettled({ status, host_node_extract_status }: NodeVersion): boolean {
  if (status === 'NodeVersionStatusPending') return false;
  return status !== 'NodeVersionStatusActive' || host_node_extract_status !== 'pending';
}

/** The end of a version that the registry turned down. */
export function endedBadly(
  { nodeId }: Pick<Subject, 'nodeId'>,
  { version, status, status_reason }: NodeVersion,
): Failure {
  const verdict = (status ?? 'unknown').replace('NodeVersionStatus', '');
  return new Failure(
    `${nodeId} ${version} is ${verdict}: ${status_reason ?? 'the registry gives no reason'}`,
    {
      code: `version_${verdict.toLowerCase()}`,
      exit: exitCodes.endedBadly,
      hint: 'Mend it and publish it under the next number; this one is used up.',
    },
  );
}

function toConflict(message: string, { version }: Subject): Failure {
  return new Failure(message, {
    code: 'version_exists',
    exit: exitCodes.conflict,
    hint: `Publish it as ${inc(version, 'patch')}, or any other number not yet used.`,
  });
}
