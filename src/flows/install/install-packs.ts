import { FlowError } from '../flow-error.js';
import { fetchPacks } from './fetch-packs.js';
import { findPack, type InstalledPack, listPacks } from './installed-packs.js';
import type { LockedNode } from './lock-file.js';
import {
  findFolderRefusal,
  type InstallContext,
  type PackOutcome,
  type PackToInstall,
  type Plan,
  planPacks,
} from './plan-packs.js';
import { placePack, prepareSuccessor, removePack, type Staging, withStaging } from './staging.js';

/**
 * Installs packs: all are downloaded, verified and unpacked before the first one is moved into place.
 * @param prunes whether packs of a registry that are not wanted are removed
 * @throws FlowError that names every pack that cannot be installed; then nothing was changed
 */
export async function installPacks(
  context: InstallContext,
  wanted: readonly PackToInstall[],
  prunes = false,
): Promise<PackOutcome[]> {
  refuseDuplicates(wanted);
  const listPrunable = (packs: readonly InstalledPack[], plans: readonly Plan[]) => {
    const meant = new Set(plans.map(({ outcome }) => outcome.folder));
    return prunes ? packs.filter(({ files, folder }) => files && !meant.has(folder)) : [];
  };
  if (context.dryRun) {
    const packs = await listPacks(context.customNodes);
    const plans = await planPacks(context, packs, wanted);
    return [
      ...plans.map(({ outcome }) => outcome),
      ...listPrunable(packs, plans).map((one) => toRemoved(one)),
    ];
  }
  await listPacks(context.customNodes);
  return withStaging(context.customNodes, async (staging) => {
    const packs = await listPacks(context.customNodes);
    const plans = await planPacks(context, packs, wanted);
    const fetched = await fetchPacks(context, staging, plans);
    return moveIntoPlace(context, staging, fetched, listPrunable(packs, plans));
  });
}

function refuseDuplicates(wanted: readonly PackToInstall[]): void {
  const ids = wanted.map(({ nodeId }) => nodeId.toLowerCase());
  const twice = wanted.find((_, at) => ids.indexOf(ids[at] as string) !== at);
  if (twice) throw new FlowError('usage', `${twice.nodeId} is given twice.`);
}

async function moveIntoPlace(
  { saveLock, force }: InstallContext,
  staging: Staging,
  fetched: readonly Plan[],
  pruned: readonly InstalledPack[],
): Promise<PackOutcome[]> {
  const prepared = fetched.map((plan) => keepOthers(plan, staging, force));
  const outcomes: PackOutcome[] = [];
  try {
    for (const { version, outcome, before, keepsOld } of prepared) {
      const kept = version && placePack(staging, outcome.folder, before, keepsOld);
      outcomes.push({ ...outcome, kept: kept ?? null });
    }
    for (const pack of pruned) outcomes.push(toRemoved(pack, removePack(staging, pack, false)));
  } finally {
    const installed = outcomes.filter(({ state }) => state !== 'removed');
    if (installed.length > 0) await saveLock(installed.map(toLocked), []);
  }
  return outcomes;
}

/** Gives a new pack what the folder of the old one holds besides its own files. */
function keepOthers(plan: Plan, staging: Staging, force: boolean): Plan {
  const { version, before, outcome } = plan;
  const inTheWay = version && before ? prepareSuccessor(staging, before) : [];
  if (inTheWay.length === 0) return plan;
  if (force) return { ...plan, keepsOld: true };
  const message = `The folder ${outcome.folder} holds files that ${outcome.node_id} ${outcome.version} brings as well.`;
  const details = inTheWay.slice(0, 20).map((path) => ({ path, message: 'is not from a registry' }));
  throw new FlowError('folder_refused', message, { subject: outcome.folder, details });
}

function toLocked({ node_id: id, version, sha256, tree }: PackOutcome): LockedNode {
  return { id, version, sha256: sha256 ?? undefined, tree: tree ?? undefined };
}

function toRemoved({ id, folder, version }: InstalledPack, kept?: string): PackOutcome {
  const name = { node_id: id ?? folder, version: version ?? '', folder };
  const nothing = { previous: version ?? null, sha256: null, tree: null, verified: false };
  return { ...name, ...nothing, state: 'removed', kept: kept ?? null };
}

/**
 * Removes packs from a folder of custom nodes, and from the lock file.
 * @throws FlowError if one is not installed, or must not be removed; then nothing was changed
 */
export async function removePacks(
  context: Pick<InstallContext, 'customNodes' | 'force' | 'dryRun' | 'lock' | 'saveLock'>,
  nodeIds: readonly string[],
): Promise<PackOutcome[]> {
  const { customNodes, force, dryRun, lock, saveLock } = context;
  const find = async () => {
    const packs = await listPacks(customNodes);
    return nodeIds.map((nodeId) => {
      const pack = findPack(packs, nodeId);
      if (!pack) throw new FlowError('not_installed', `${nodeId} is not installed in ${customNodes}.`);
      const refusal = findFolderRefusal(context, pack);
      if (refusal && !force) throw new FlowError('folder_refused', refusal, { subject: pack.folder });
      return { pack, isKept: refusal !== undefined };
    });
  };
  if (dryRun) return (await find()).map(({ pack }) => toRemoved(pack));
  await listPacks(customNodes);
  return withStaging(customNodes, async (staging) => {
    const outcomes: PackOutcome[] = [];
    try {
      for (const { pack, isKept } of await find())
        outcomes.push(toRemoved(pack, removePack(staging, pack, isKept)));
    } finally {
      if (lock)
        await saveLock(
          [],
          outcomes.flatMap(({ node_id, folder }) => [node_id, folder]),
        );
    }
    return outcomes;
  });
}
