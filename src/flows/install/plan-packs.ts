import { join } from 'node:path';
import type { Client } from '../../client/client.js';
import type { Text } from '../../contract/schema/message.js';
import { completeVersion } from '../../contract/schema/semantic-version.js';
import { FlowError } from '../flow-error.js';
import type { Stages } from '../publish/pack.js';
import { type NodeVersion, parseTree } from '../publish/published.js';
import type { SigningService } from '../trust/verify-statement.js';
import { chooseVersion, type WantedNode } from './choose-version.js';
import { refuseDoubtful, WITHDRAWN, warnOfDoubtful } from './doubtful-versions.js';
import {
  computeInstalledTree,
  exists,
  findPack,
  hasFileModes,
  type InstalledPack,
} from './installed-packs.js';
import { findLocked, type LockedNode, type LockFile } from './lock-file.js';
import { runAll } from './run-all.js';

export interface InstallContext {
  readonly client: Client;
  /** Verifies what the registry signed. */
  readonly signer: SigningService;
  readonly customNodes: string;
  readonly lock: LockFile | undefined;
  /** Which of `DOUBTFUL_STATES` a version may have. */
  readonly allowed: ReadonlySet<string>;
  /** Whether folders that did not come from a registry, or were changed since, may be replaced. They are kept. */
  readonly force: boolean;
  /** Whether nothing is downloaded and changed. */
  readonly dryRun: boolean;
  readonly progress: Stages;
  readonly signal: AbortSignal;
  warn(text: Text): Promise<void>;
  /** Records what is in place, also if a later pack could not be moved there. */
  saveLock(nodes: readonly LockedNode[], removed: readonly string[]): Promise<unknown>;
}

/** A node to install, maybe one that a lock file pins. */
export interface PackToInstall extends WantedNode {
  readonly pinned?: LockedNode;
}

export interface PackOutcome {
  readonly node_id: string;
  readonly version: string;
  /** The version that was installed before, if it is known. */
  readonly previous: string | null;
  readonly state: 'installed' | 'updated' | 'unchanged' | 'removed';
  readonly folder: string;
  /** Where what was in its folder before is kept. */
  readonly kept: string | null;
  readonly sha256: string | null;
  readonly tree: string | null;
  /** Whether the archive has the digest that the registry publishes, or that the lock file pins. */
  readonly verified: boolean;
}

/** What is to be done for a node. */
export interface Plan {
  readonly nodeId: string;
  /** Absent if the pack is in place already. */
  readonly version?: NodeVersion;
  readonly before: InstalledPack | undefined;
  /** Whether the folder that is replaced is kept among the disabled packs. */
  readonly keepsOld: boolean;
  readonly outcome: PackOutcome;
}

/** Finds the version of each node, and whether it may take the place of what is there. */
export async function planPacks(
  context: InstallContext,
  packs: readonly InstalledPack[],
  wanted: readonly PackToInstall[],
): Promise<Plan[]> {
  await context.progress.stage(`Finding ${wanted.length === 1 ? '1 version' : `${wanted.length} versions`}`);
  const plans = await runAll(context, wanted, (one) => planPack(context, packs, one));
  await warnOfDoubtful(
    context,
    plans.filter(({ version }) => !version).map(({ outcome }) => outcome),
  );
  return plans;
}

async function planPack(
  context: InstallContext,
  packs: readonly InstalledPack[],
  wanted: PackToInstall,
): Promise<Plan> {
  const { pinned, nodeId } = wanted;
  const before = findPack(packs, nodeId);
  const toPlan = (id: string, found: string, locked: LockedNode | undefined, version?: NodeVersion): Plan => {
    const state = version === undefined ? 'unchanged' : before ? 'updated' : 'installed';
    const { sha256 = null, tree = null } = locked ?? {};
    const outcome = {
      ...{ node_id: id, version: found, previous: before?.version ?? null, state, sha256, tree },
      ...{ folder: before?.folder ?? id, kept: null, verified: version === undefined },
    } satisfies PackOutcome;
    if (!before && (exists(join(context.customNodes, id)) || id.toLowerCase().endsWith('.disabled')))
      throw new FlowError('folder_refused', `The host does not load a pack from ${id}, or a file is there.`, {
        subject: id,
      });
    const refusal = version && before && findFolderRefusal(context, before);
    if (refusal && !context.force) throw new FlowError('folder_refused', refusal, { subject: before.folder });
    const plan = { nodeId: id, before, keepsOld: refusal !== undefined, outcome };
    return version ? { ...plan, version } : plan;
  };
  if (pinned && isInPlace(before, pinned)) return toPlan(pinned.id, pinned.version, pinned);
  const { client, signal, allowed, dryRun } = context;
  const options = { client, nodeId, range: wanted.range, allowed, counts: !dryRun, signal };
  const version = await chooseVersion(options).catch((error) => {
    const isWithdrawn = pinned && error instanceof FlowError && error.code === 'nothing_to_download';
    throw isWithdrawn ? toWithdrawnError(pinned) : error;
  });
  await refuseDoubtful(context, wanted, version);
  const found = completeVersion(version.version ?? '');
  const id = version.node_id ?? nodeId;
  const locked = pinned ?? findLocked(context.lock, id);
  const isLocked = locked?.version === found;
  if (isLocked && isInPlace(before, locked)) return toPlan(id, found, locked);
  if (isLocked) refuseOtherArchive(locked, version.archive_sha256);
  else if (before?.version === found) {
    const published = await readDigests(context, id, version);
    if (published && isInPlace(before, published)) return toPlan(id, found, published);
  }
  return toPlan(id, found, isLocked ? locked : undefined, version);
}

/** Reads what a lock file would pin of a version, if the registry publishes it. */
async function readDigests(
  { client, signal }: InstallContext,
  id: string,
  { version = '', archive_sha256: sha256, downloadUrl }: NodeVersion,
): Promise<LockedNode | undefined> {
  if (sha256 === undefined || !downloadUrl) return undefined;
  const { headers } = await client.inspect(downloadUrl, { signal });
  const tree = parseTree(headers);
  return tree === undefined ? undefined : { id, version: completeVersion(version), sha256, tree };
}

function toWithdrawnError({ id, version }: LockedNode): FlowError {
  return new FlowError('version_withdrawn', `${id} ${version} is withdrawn: ${WITHDRAWN}.`, { subject: id });
}

/** Whether the files of a pack are those that a lock file pins. */
function isInPlace(pack: InstalledPack | undefined, { tree, version }: LockedNode): boolean {
  if (!pack?.files || tree === undefined) return false;
  if (hasFileModes(pack.path)) return computeInstalledTree(pack.path, pack.files) === tree;
  return pack.version === version && [...pack.files].every((path) => exists(join(pack.path, path)));
}

/** @returns why the folder of a pack must not be replaced unasked */
export function findFolderRefusal(
  { lock }: Pick<InstallContext, 'lock'>,
  pack: InstalledPack,
): string | undefined {
  const { folder, files, id = folder, version } = pack;
  if (!files) return `The folder ${folder} did not come from a registry; it may be a git checkout.`;
  const locked = findLocked(lock, id);
  const isKnown = locked?.tree !== undefined && locked.version === version;
  if (!isKnown || isInPlace(pack, locked)) return undefined;
  return `Files of ${id} ${version} in the folder ${folder} were changed or removed since it was installed.`;
}

/** @throws FlowError if the registry has another archive than a lock file pins */
export function refuseOtherArchive({ id, version, sha256 }: LockedNode, found: string | undefined): void {
  if (sha256 === undefined || found === undefined || sha256 === found) return;
  const message = `The registry has another archive of ${id} ${version} than the lock file pins.`;
  throw new FlowError('lock_mismatch', message, { subject: id });
}
