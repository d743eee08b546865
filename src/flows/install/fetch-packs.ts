import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../client/client.js';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { computeTreeDigest } from '../../pack/tree.js';
import { unpackArchive } from '../../pack/unpack.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { FlowError } from '../flow-error.js';
import type { NodeVersion } from '../publish/published.js';
import { type DownloadOptions, downloadArchive } from './download-archive.js';
import { isTracking, TRACKING_FILE } from './installed-packs.js';
import { type InstallContext, type Plan, refuseOtherArchive } from './plan-packs.js';
import { runAll } from './run-all.js';
import type { Staging } from './staging.js';

/** Downloads, verifies and unpacks the packs that are not in place yet. */
export async function fetchPacks(
  context: InstallContext,
  staging: Staging,
  plans: readonly Plan[],
): Promise<Plan[]> {
  const { progress, signal } = context;
  const missing = plans.filter(({ version }) => version);
  if (missing.length === 0) return [...plans];
  await progress.stage(`Downloading ${missing.length === 1 ? '1 pack' : `${missing.length} packs`}`);
  const counts = { done: 0, bytes: 0 };
  const fetched = await runAll(context, plans, async (plan) => {
    if (!plan.version) return plan;
    let seen = 0;
    const onProgress = (bytes: number) => {
      counts.bytes += bytes - seen;
      seen = bytes;
      progress.update(`(${counts.done} done, ${formatBytes(counts.bytes)})`);
    };
    const done = await fetchPack(
      context.client,
      staging,
      { ...plan, version: plan.version },
      { signer: context.signer, signal, onProgress },
    );
    counts.done++;
    return done;
  });
  progress.end();
  return fetched;
}

/** Downloads and unpacks a pack, and writes the list of its files. */
async function fetchPack(
  client: Client,
  { archives, incoming }: Staging,
  plan: Plan & { readonly version: NodeVersion },
  options: Omit<DownloadOptions, 'path'>,
): Promise<Plan> {
  const { nodeId: id, version, outcome } = plan;
  const path = join(archives, `${id}.zip`);
  const { sha256, isVerified } = await downloadArchive(client, version, { path, ...options });
  const pinned = { sha256: outcome.sha256 ?? undefined, tree: outcome.tree ?? undefined };
  refuseOtherArchive({ id, version: outcome.version, ...pinned }, sha256);
  const folder = join(incoming, outcome.folder);
  const unpacked = await unpackArchive(path, folder, DEFAULT_LIMITS, isTracking);
  rmSync(path);
  if (!unpacked.ok)
    throw new FlowError(
      'archive_refused',
      `The archive of ${id} ${outcome.version} is refused. ${unpacked.reason}`,
    );
  const files = unpacked.entries.filter((entry) => !isTracking(entry.path));
  const tree = computeTreeDigest(files);
  if (pinned.tree !== undefined && pinned.tree !== tree)
    throw new FlowError(
      'lock_mismatch',
      `${id} ${outcome.version} has other files than the lock file pins.`,
      {
        subject: id,
      },
    );
  writeFileSync(join(folder, TRACKING_FILE), files.map((file) => `${file.path}\n`).join(''), { mode: 0o666 });
  const verified = isVerified || pinned.sha256 !== undefined;
  return { ...plan, outcome: { ...outcome, sha256, tree, verified } };
}
