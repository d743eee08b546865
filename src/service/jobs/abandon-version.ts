import type { Context } from '../context.js';
import { archiveKey } from '../http/signed-urls.js';
import type { Work } from '../queue/queue.js';
import { transition } from '../registry/version-states.js';

/**
 * Gives up a version that was registered but never uploaded, so that its number is free again. Each registration
 * enqueues the job anew, so that it comes 24 h after the last one.
 */
export function abandonVersion(context: Context): Work {
  return async ({ key: versionId }) => {
    await context.database.transaction().execute(async (tx) => {
      // Decided: nothing uploaded in 24 h is Deleted as no_archive.
      const version = await tx
        .selectFrom('versions')
        .innerJoin('nodes', 'nodes.id', 'versions.node_id')
        .select(['nodes.publisher_id as publisherId', 'versions.node_id as nodeId', 'versions.version'])
        .where('versions.id', '=', versionId)
        .where('versions.status', '=', 'NodeVersionStatusPending')
        .where('versions.uploaded_at', 'is', null)
        .executeTakeFirst();
      if (!version) return;
      const to = 'NodeVersionStatusDeleted';
      await transition(tx, { versionId, to, right: 'service', actor: 'service', now: context.now() });
      // A crash between an upload's file and its row may have left one. Removed before the number is free again.
      await context.storage.remove(archiveKey(version));
    });
  };
}
