import { basename } from 'node:path';
import { changeLockFile, findLocked, replaceNodes, requireSource } from '../../flows/install/lock-file.js';
import type { PackVersion } from '../../flows/workflow/read-definitions.js';
import type { Needs } from '../connect/context.js';
import { findLockSource } from '../connect/lock-source.js';

/**
 * Writes versions of packs into a lock file, with the digests that the registry publishes; other packs stay.
 * @returns those that the registry does not have, which are left out, and whether some of the others were never installed
 * @throws FlowError if the lock file is not valid, or of another registry
 */
export async function lockPacks(
  context: Needs<'services' | 'settings' | 'folders' | 'signal'>,
  path: string,
  packs: readonly PackVersion[],
): Promise<{ readonly missing: readonly PackVersion[]; readonly isComplete: boolean }> {
  const { client } = await context.services.reach();
  const body = { node_versions: packs.map(({ node_id, version }) => ({ node_id, version })) };
  const { node_versions: items } = await client.version.bulk({ body }, { signal: context.signal });
  const found = items.flatMap(({ status, node_version, identifier: { node_id: id, version } }) =>
    status === 'success'
      ? [{ id: node_version?.node_id ?? id, version, sha256: node_version?.archive_sha256 }]
      : [],
  );
  const source = findLockSource(context);
  let isComplete = true;
  await changeLockFile(path, context.folders.state, (before) => {
    if (before) requireSource(basename(path), before, source);
    // What is pinned already may have been verified.
    const changed = found.filter(({ id, version }) => findLocked(before, id)?.version !== version);
    isComplete = changed.length === 0 && found.every(({ id }) => findLocked(before, id)?.tree !== undefined);
    return replaceNodes(before ?? { ...source, nodes: [] }, changed);
  });
  const known = new Set(found.map(({ id, version }) => `${id.toLowerCase()}@${version}`));
  const missing = packs.filter(({ node_id, version }) => !known.has(`${node_id.toLowerCase()}@${version}`));
  return { missing, isComplete };
}
