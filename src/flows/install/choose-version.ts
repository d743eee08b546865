import rcompare from 'semver/functions/rcompare.js';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { isNodeId, splitNodeVersion } from '../../contract/schema/node-id.js';
import { completeVersion, isSemanticVersion } from '../../contract/schema/semantic-version.js';
import { shortenStatus } from '../../contract/status-names.js';
import { FlowError } from '../flow-error.js';
import type { NodeVersion } from '../publish/published.js';
import { DOUBTFUL_STATES, type FindVersionOptions, findDownloadable } from './download-archive.js';

export interface WantedNode {
  readonly nodeId: string;
  /** An exact version, or a range as npm writes it. Default: the latest version. */
  readonly range?: string | undefined;
}

/**
 * Parses `node`, `node@1.2.0` or `node@^1.2`.
 * @throws FlowError
 */
export function parseWantedNode(text: string): WantedNode {
  const [nodeId, given] = splitNodeVersion(text);
  const range = given?.trim();
  if (isSemanticVersion(text))
    throw new FlowError('usage', `'${text}' is a version number; write it behind its node, as node@${text}.`);
  if (!isNodeId(nodeId)) throw new FlowError('usage', `'${text}' must be written as node or node@range.`);
  if (range === undefined || range === 'latest') return { nodeId };
  if (range === '' || range.length > 256 || validRange(range) === null)
    throw new FlowError(
      'usage',
      `'${range}' is neither a version nor a range of versions, such as ^1.2.0 or '>=1.2 <2'.`,
    );
  return { nodeId, range };
}

/**
 * Finds the version to install. Of a range it is the highest one that is Active and not deprecated, or in an allowed
 * state; an exact version, or the latest one, may have any state. Without a latest one, it is the best that this caller sees.
 * @throws FlowError if there is none
 */
export async function chooseVersion({
  range,
  ...options
}: Omit<FindVersionOptions, 'version'> & WantedNode): Promise<NodeVersion> {
  const { client, nodeId, signal, allowed } = options;
  const find = (version?: string) =>
    findDownloadable({ ...options, allowed: new Set(DOUBTFUL_STATES), version });
  const list = () => client.version.list({ nodeId }, { signal });
  if (range !== undefined && isSemanticVersion(range)) return find(range);
  if (range === undefined)
    return find().catch(async (error) => {
      if (!(error instanceof FlowError) || error.code !== 'nothing_to_download') throw error;
      // Publishers and admins see versions that others do not.
      const [shown] = sortVersions((await list()).filter((one) => listDoubts(one).every(isDoubtfulState)));
      if (!shown) throw error;
      return find(shown.version);
    });
  const listed = await list();
  const fitting = listed.filter(({ version = '' }) => satisfies(completeVersion(version), range));
  const isAllowed = (state: string) => allowed?.has(state) === true;
  const [best] = sortVersions(fitting.filter((one) => listDoubts(one).every(isAllowed)));
  if (best) return find(best.version);
  for (const one of sortVersions(fitting)) {
    const doubts = listDoubts(one).filter((state) => !isAllowed(state));
    if (!doubts.every(isDoubtfulState)) continue;
    const newest = `the newest there is ${one.version} (${doubts.join(', ')})`;
    const message = `${nodeId} has no version in ${range} that is Active and not deprecated; ${newest}.`;
    throw new FlowError('only_doubtful', message, { subject: doubts.join(' --allow ') });
  }
  const known = sortVersions(listed).flatMap(({ version, deprecated }) =>
    version ? [deprecated ? `${version} (deprecated)` : version] : [],
  );
  const newest = known.length > 0 ? `; the newest are ${known.slice(0, 3).join(', ')}` : '';
  throw new FlowError('nothing_to_download', `${nodeId} has no version in ${range}${newest}.`, {
    subject: nodeId,
  });
}

const isDoubtfulState = (state: string) => (DOUBTFUL_STATES as readonly string[]).includes(state);

/** Lists why a range passes over a version: its status, unless that is Active, and `deprecated`. */
function listDoubts({ status = 'NodeVersionStatusActive', deprecated }: NodeVersion): string[] {
  const state = shortenStatus(status) ?? status;
  return [...(state === 'active' ? [] : [state]), ...(deprecated ? ['deprecated'] : [])];
}

/** Sorts versions, the one to prefer first: not deprecated, then stable, then the highest. */
export function sortVersions(versions: readonly NodeVersion[]): NodeVersion[] {
  const rank = ({ version = '', deprecated }: NodeVersion) =>
    Number(deprecated === true) * 2 + Number(completeVersion(version).includes('-'));
  return versions
    .filter(({ version = '' }) => isSemanticVersion(completeVersion(version)))
    .sort((one, other) => rank(one) - rank(other) || compareDescending(one, other));
}

function compareDescending({ version: one = '' }: NodeVersion, { version: other = '' }: NodeVersion): number {
  return rcompare(completeVersion(one), completeVersion(other));
}
