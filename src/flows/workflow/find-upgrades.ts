import gt from 'semver/functions/gt.js';
import lt from 'semver/functions/lt.js';
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
import type { Workflow, WorkflowNode } from './parse-workflow.js';
import type { PackVersion } from './read-definitions.js';

/** How far a pack can be upgraded. */
export interface Upgrade {
  readonly node_id: string;
  readonly from: string;
  /** The highest version that keeps all workflows whole; the same as `from` if there is no better one. */
  readonly to: string;
  /** The highest version there is. */
  readonly newest: string;
  /** What the lowest of the versions above `to` breaks. */
  readonly breaks: readonly WorkflowFinding[];
}

const VERSIONS_PER_READ = 20;

/**
 * Finds the highest version of each pack that breaks nothing; each one together with those that were found before. It may
 * be a lower one where the locked or latest one has problems, and neither the workflows nor the user name a version.
 * @param asked versions that the user named
 */
export async function findUpgrades(
  workflows: readonly Workflow[],
  knowledge: Knowledge,
  packs: readonly NeededPack[],
  listVersions: (nodeId: string) => Promise<readonly NodeVersion[]>,
  asked: Replacements = new Map(),
): Promise<Upgrade[]> {
  const upgrades: Upgrade[] = [];
  const base = chooseHighest(packs);
  const use = new Map(base.map(({ node_id, version }) => [node_id.toLowerCase(), version]));
  for (const pack of base) {
    const { node_id, version: from, host_node_names } = pack;
    const versions = sortUsable(from, await listVersions(node_id));
    const newer = versions.filter((version) => gt(version, from));
    const read = (some: readonly string[]) =>
      knowledge.catalog.read(
        host_node_names,
        some.map((version) => ({ node_id, version })),
      );
    const listOwn = listProblems(workflows, knowledge, use, pack);
    const isOpen = !asked.has(node_id.toLowerCase()) && !isVersionRecorded(workflows, node_id);
    const found = await findHighest(newer, read, compareWith(workflows, knowledge, use, pack));
    const lower =
      isOpen && found.to === undefined && listOwn(from).length > 0
        ? await findHighest([from, ...versions.filter((version) => lt(version, from))], read, listOwn)
        : undefined;
    const { to = from, breaks } = lower?.to === undefined ? found : lower;
    use.set(node_id.toLowerCase(), to);
    upgrades.push({ node_id, from, to, newest: newer[0] ?? from, breaks });
  }
  return upgrades;
}

/**
 * Finds the first of some versions, newest first, that breaks nothing.
 * @returns none if each breaks something, and what the last one before it breaks
 */
async function findHighest(
  versions: readonly string[],
  read: (some: readonly string[]) => Promise<void>,
  listBroken: (version: string) => WorkflowFinding[],
): Promise<{ readonly to?: string; readonly breaks: readonly WorkflowFinding[] }> {
  let breaks: readonly WorkflowFinding[] = [];
  for (const [at, version] of versions.entries()) {
    if (at % VERSIONS_PER_READ === 0) await read(versions.slice(at, at + VERSIONS_PER_READ));
    // A version whose definitions are not known is not known to keep anything whole.
    const added = listBroken(version);
    if (added.length === 0) return { to: version, breaks };
    breaks = added;
  }
  return { breaks };
}

function isVersionRecorded(workflows: readonly Workflow[], nodeId: string): boolean {
  const isRecorded = ({ pack }: WorkflowNode) =>
    pack?.version !== undefined && pack.node_id.toLowerCase() === nodeId.toLowerCase();
  return workflows.some(({ nodes }) => nodes.some(isRecorded));
}

/** @returns what lists the findings with a version of a pack, and what is not known of that version */
function listProblems(
  workflows: readonly Workflow[],
  knowledge: Knowledge,
  use: Replacements,
  { node_id }: PackVersion,
): (version: string) => WorkflowFinding[] {
  const key = node_id.toLowerCase();
  return (version) =>
    checkWorkflows(workflows, knowledge, new Map([...use, [key, version]])).findings.filter(
      ({ pack, breaks, problem }) =>
        pack?.node_id.toLowerCase() === key && (breaks || problem === 'not checked'),
    );
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
function sortUsable(from: string, versions: readonly NodeVersion[]): string[] {
  return versions
    .filter(({ status = ACTIVE, deprecated }) => !deprecated && status === ACTIVE)
    .map(({ version = '' }) => completeVersion(version))
    .filter((version) => valid(version) && (!prerelease(version) || prerelease(from)))
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
