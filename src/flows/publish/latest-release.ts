import { ClientError, ServiceError } from '../../client/errors.js';
import { items } from '../../client/pages.js';
import type { ListedDefinition } from '../../contract/compare-definitions.js';
import {
  chooseNext,
  describeChange,
  findBrokenPromises,
  isWholeCode,
  mayBreak,
  type Release,
} from '../../contract/release-rules.js';
import type { CodeReport } from '../../python/code-report.js';
import { toListedDefinition } from '../../python/definitions/definitions.js';
import { FlowError } from '../flow-error.js';
import type { PublishReport } from './pack.js';
import { requireVersion, type VersionContext } from './published.js';

type NodeContext = Pick<VersionContext, 'client' | 'nodeId' | 'signal'>;

export async function readDefinitions(
  { client, nodeId, signal }: NodeContext,
  version: string,
): Promise<ListedDefinition[]> {
  const all: ListedDefinition[] = [];
  const read = (page: number) => client.hostNodes.list({ nodeId, version, page, limit: 100 }, { signal });
  for await (const definition of items(read)) all.push(definition);
  return all;
}

/**
 * Reads the latest version of a node.
 * @param wanted whether its definitions are needed
 * @returns undefined if it has none
 */
export async function readLatestRelease(
  context: NodeContext,
  wanted: (version: string) => boolean = () => true,
): Promise<Release | undefined> {
  const { client, nodeId, signal } = context;
  try {
    const { latest_version: latest } = await client.node.get({ nodeId }, { signal });
    if (!latest || latest.from_uplink) return undefined;
    const { version } = requireVersion(client, { nodeId }, latest);
    if (!version || !wanted(version)) return undefined;
    return { version, definitions: await readDefinitions(context, version) };
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Compares a pack with the latest version of its node. A registry that does not answer prevents nothing.
 * @throws FlowError if workflows break although the version number says that they do not
 */
export async function refuseBrokenPromise(
  subject: VersionContext,
  code: CodeReport,
  report: PublishReport,
): Promise<void> {
  const { nodeId, version } = subject;
  const { default: lt } = await import('semver/functions/lt.js');
  try {
    // One with a lower number, such as a fix of an older release, does not follow the latest.
    const from = await readLatestRelease(
      subject,
      (latest) => lt(latest, version) && !mayBreak(latest, version),
    );
    if (!from || !code.followed) return;
    const definitions = code.nodes.map(toListedDefinition);
    const broken = findBrokenPromises(from, { version, definitions }, isWholeCode(code));
    if (broken.length === 0) return;
    const { default: inc } = await import('semver/functions/inc.js');
    const next = inc(from.version, chooseNext(from, definitions, isWholeCode(code)).part);
    throw new FlowError(
      'breaking_changes',
      `${nodeId} ${version} breaks workflows saved with ${from.version}; that needs version ${next}. Nothing was sent.`,
      { details: broken.map((one) => ({ path: one.host_node_name, message: describeChange(one) })) },
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    await report.warn(`The definitions were not compared with the latest version: ${error.message}`);
  }
}
