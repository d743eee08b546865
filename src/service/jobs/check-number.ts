import { describeChange, findBrokenPromises, isWholeCode, mayBreak } from '../../contract/release-rules.js';
import type { CodeReport } from '../../python/code-report.js';
import { toListedDefinition } from '../../python/definitions/definitions.js';
import { findRows, type Tx } from '../database/database.js';
import type { Context } from '../operation/context.js';
import { compareVersions, isPreRelease } from '../registry/version-order.js';

const MAX_LISTED = 10;

/**
 * Compares the definitions of a version with those of the Active one before it, if the service is configured to.
 * @returns what breaks although the version number says that nothing does, a line each
 */
export async function describeBrokenPromise(
  tx: Tx,
  { configuration }: Pick<Context, 'configuration'>,
  { nodeId, version }: { readonly nodeId: string; readonly version: string },
  code: CodeReport,
): Promise<string | undefined> {
  if (configuration.registry.semver === 'off') return undefined;
  const before = await findVersionBefore(tx, nodeId, version);
  if (!before || mayBreak(before.version, version)) return undefined;
  const rows = await findRows(tx, 'host_nodes', { version_id: before.id });
  const from = { version: before.version, definitions: rows.map(({ definition }) => JSON.parse(definition)) };
  const to = { version, definitions: code.nodes.map(toListedDefinition) };
  const broken = findBrokenPromises(from, to, isWholeCode(code));
  if (broken.length === 0) return undefined;
  const lines = broken
    .slice(0, MAX_LISTED)
    .map((change) => `${change.host_node_name}: ${describeChange(change)}`);
  const more = broken.length - lines.length;
  return [
    `Workflows saved with ${before.version} break, which the version number does not say:`,
    ...lines,
    ...(more > 0 ? [`And ${more} more.`] : []),
  ].join('\n');
}

/** The highest Active version below another one, whose definitions are known. */
async function findVersionBefore(tx: Tx, nodeId: string, version: string) {
  const candidates = await tx
    .selectFrom('versions')
    .select(['id', 'version'])
    .where('node_id', '=', nodeId)
    .where('status', '=', 'NodeVersionStatusActive')
    .where('extract_status', '=', 'success')
    .execute();
  return candidates
    .filter((one) => !isPreRelease(one.version) && compareVersions(one.version, version) < 0)
    .sort((one, other) => compareVersions(other.version, one.version))[0];
}
