import type { Context, Tx } from '../context.js';
import { archiveKey } from '../http/signed-urls.js';
import { Postponed, type Work } from '../queue/queue.js';
import { transition } from '../registry/version-states.js';

/** Gives up a version that was registered but never uploaded, so that its number is free again. */
export function abandonVersion(context: Context): Work {
  // Decided: nothing uploaded in 24 h is Deleted as no_archive.
  const patienceMs = context.configuration.limits.uploadAbandonedSeconds * 1000;

  return async ({ key: versionId }) => {
    await context.database.transaction().execute(async (tx) => {
      const version = await tx
        .selectFrom('versions')
        .innerJoin('nodes', 'nodes.id', 'versions.node_id')
        .select(['nodes.publisher_id as publisherId', 'versions.node_id as nodeId', 'versions.version'])
        .where('versions.id', '=', versionId)
        .where('versions.status', '=', 'NodeVersionStatusPending')
        .where('versions.uploaded_at', 'is', null)
        .executeTakeFirst();
      if (!version) return;
      const now = context.now();
      const until = (await lastRegistered(tx, versionId)) + patienceMs;
      if (until > now) throw new Postponed(until);
      const to = 'NodeVersionStatusDeleted';
      await transition(tx, { versionId, to, right: 'service', actor: 'service', now });
      // A crash between an upload's file and its row may have left one. Removed before the number is free again.
      await context.storage.remove(archiveKey(version));
    });
  };
}

/** A version may be registered again after its job was made. */
async function lastRegistered(tx: Tx, versionId: string): Promise<number> {
  const { at } = await tx
    .selectFrom('events')
    .select('at')
    .where('subject_kind', '=', 'version')
    .where('subject_id', '=', versionId)
    .where('status', '=', 'NodeVersionStatusPending')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  return Date.parse(at);
}
