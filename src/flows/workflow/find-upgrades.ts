import gt from 'semver/functions/gt.js';
import prerelease from 'semver/functions/prerelease.js';
import rcompare from 'semver/functions/rcompare.js';
import type { NodeVersion } from '../publish/published.js';
import {
  checkWorkflows,
  chooseHighest,
  type Knowledge,
  type NeededPack,
  type WorkflowFinding,
} from './check-workflows.js';
import type { Workflow } from './parse-workflow.js';

/** How far a pack can be upgraded. */
export interface Upgrade {
  readonly node_id: string;
  readonly from: string;
  /** The highest version that keeps all workflows whole; the same as `from` if there is none. */
  readonly to: string;
  /** The highest version there is. */
  readonly newest: string;
  /** What the lowest of the versions above `to` breaks. */
  readonly breaks: readonly WorkflowFinding[];
}

/** Versions of a pack whose definitions are read at once. */
const VERSIONS_PER_READ = 20;

/** Finds the highest version of each pack that breaks nothing; each one together with those that were found before. */
export async function findUpgrades(
  workflows: readonly Workflow[],
  knowledge: Knowledge,
  packs: readonly NeededPack[],
  listVersions: (nodeId: string) => Promise<readonly NodeVersion[]>,
): Promise<Upgrade[]> {
  const upgrades: Upgrade[] = [];
  const use = new Map<string, string>();
  const base = chooseHighest(packs);
  for (const { node_id, version } of base) use.set(node_id.toLowerCase(), version);
  for (const pack of base) {
    const newer = listNewer(pack.version, await listVersions(pack.node_id));
    const upgrade = await findUpgrade(workflows, knowledge, { pack, newer, use });
    use.set(pack.node_id.toLowerCase(), upgrade.to);
    upgrades.push(upgrade);
  }
  return upgrades;
}

/** Newest first, without drafts and deprecated ones; pre-releases only of someone who uses them. */
function listNewer(from: string, versions: readonly NodeVersion[]): string[] {
  return versions
    .filter(({ status, deprecated }) => !deprecated && (status ?? ACTIVE) === ACTIVE)
    .map(({ version = '' }) => version)
    .filter((version) => gt(version, from) && (!prerelease(version) || prerelease(from) !== null))
    .sort(rcompare);
}

const ACTIVE = 'NodeVersionStatusActive';

interface UpgradeSearch {
  readonly pack: NeededPack;
  readonly newer: readonly string[];
  readonly use: ReadonlyMap<string, string>;
}

async function findUpgrade(
  workflows: readonly Workflow[],
  knowledge: Knowledge,
  { pack, newer, use }: UpgradeSearch,
): Promise<Upgrade> {
  const { node_id, version: from, host_node_names } = pack;
  const check = (version: string) =>
    checkWorkflows(workflows, knowledge, new Map([...use, [node_id.toLowerCase(), version]])).findings;
  const known = new Set(check(from).map(toKey));
  let breaks: readonly WorkflowFinding[] = [];
  for (let at = 0; at < newer.length; at += VERSIONS_PER_READ) {
    const some = newer.slice(at, at + VERSIONS_PER_READ);
    await knowledge.catalog.read(
      host_node_names,
      some.map((version) => ({ node_id, version })),
    );
    for (const version of some) {
      // A version whose definitions are not known is not known to keep anything whole.
      const added = check(version).filter((one) => !known.has(toKey(one)));
      if (added.length === 0) return { node_id, from, to: version, newest: newer[0] ?? from, breaks };
      breaks = added;
    }
  }
  return { node_id, from, to: from, newest: newer[0] ?? from, breaks };
}

/** A finding in any version: the input that its detail begins with, without what the version has for it. */
function toKey({ file, node, problem, detail }: WorkflowFinding): string {
  const subject = ['node missing', 'version missing', 'not checked'].includes(problem)
    ? ''
    : detail.split(':')[0];
  return [file, node, problem, subject].join('\n');
}
