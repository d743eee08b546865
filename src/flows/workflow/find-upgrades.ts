import gt from 'semver/functions/gt.js';
import prerelease from 'semver/functions/prerelease.js';
import rcompare from 'semver/functions/rcompare.js';
import valid from 'semver/functions/valid.js';
import { completeVersion } from '../../contract/schema/semantic-version.js';
import type { NodeVersion } from '../publish/published.js';
import {
  checkWorkflows,
  chooseHighest,
  type Knowledge,
  type NeededPack,
  type Replacements,
  type WorkflowFinding,
} from './check-workflows.js';
import type { Workflow } from './parse-workflow.js';
import type { PackVersion } from './read-definitions.js';

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

const VERSIONS_PER_READ = 20;

/** Finds the highest version of each pack that breaks nothing; each one together with those that were found before. */
export async function findUpgrades(
  workflows: readonly Workflow[],
  knowledge: Knowledge,
  packs: readonly NeededPack[],
  listVersions: (nodeId: string) => Promise<readonly NodeVersion[]>,
): Promise<Upgrade[]> {
  const upgrades: Upgrade[] = [];
  const base = chooseHighest(packs);
  const use = new Map(base.map(({ node_id, version }) => [node_id.toLowerCase(), version]));
  for (const { node_id, version: from, host_node_names } of base) {
    const listBroken = compareWith(workflows, knowledge, use, { node_id, version: from });
    const newer = listNewer(from, await listVersions(node_id));
    let to = from;
    let breaks: readonly WorkflowFinding[] = [];
    for (const [at, version] of newer.entries()) {
      const some = newer.slice(at, at + VERSIONS_PER_READ).map((one) => ({ node_id, version: one }));
      if (at % VERSIONS_PER_READ === 0) await knowledge.catalog.read(host_node_names, some);
      // A version whose definitions are not known is not known to keep anything whole.
      const added = listBroken(version);
      if (added.length === 0) {
        to = version;
        break;
      }
      breaks = added;
    }
    use.set(node_id.toLowerCase(), to);
    upgrades.push({ node_id, from, to, newest: newer[0] ?? from, breaks });
  }
  return upgrades;
}

/**
 * Checks workflows with other versions of a pack than one.
 * @param use the versions of the other packs
 * @returns what lists the findings of a version that this one does not have
 */
function compareWith(
  workflows: readonly Workflow[],
  knowledge: Knowledge,
  use: Replacements,
  { node_id, version: from }: PackVersion,
): (version: string) => WorkflowFinding[] {
  const check = (version: string) =>
    checkWorkflows(workflows, knowledge, new Map([...use, [node_id.toLowerCase(), version]])).findings;
  const known = new Set(check(from).map(toKey));
  return (version) => check(version).filter((one) => !known.has(toKey(one)));
}

/** Lists the packs of which a version breaks what the locked one does not. */
export function findRegressions<Pack extends PackVersion>(
  workflows: readonly Workflow[],
  knowledge: Knowledge,
  packs: readonly Pack[],
): Pack[] {
  const use = new Map(packs.map(({ node_id, version }) => [node_id.toLowerCase(), version]));
  return packs.filter(({ node_id, version }) => {
    const locked = knowledge.locked.get(node_id.toLowerCase());
    if (!locked || locked.version === version) return false;
    return compareWith(workflows, knowledge, use, locked)(version).some(({ breaks }) => breaks);
  });
}

/** Newest first, without drafts and deprecated ones; pre-releases only of someone who uses them. */
function listNewer(from: string, versions: readonly NodeVersion[]): string[] {
  return versions
    .filter(({ status = ACTIVE, deprecated }) => !deprecated && status === ACTIVE)
    .map(({ version = '' }) => completeVersion(version))
    .filter((version) => valid(version) && gt(version, from) && (!prerelease(version) || prerelease(from)))
    .sort(rcompare);
}

const ACTIVE = 'NodeVersionStatusActive';

/** A finding in any version: the input that its detail begins with, without what the version has for it. */
function toKey({ file, node, problem, detail }: WorkflowFinding): string {
  const subject = ['node missing', 'version missing', 'not checked'].includes(problem)
    ? ''
    : detail.split(':')[0];
  return [file, node, problem, subject].join('\n');
}
