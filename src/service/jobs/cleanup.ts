import { findRow } from '../database/database.js';
import { advanceTask } from '../generation/task-states.js';
import { removeUnusedFiles } from '../generation/unused-files.js';
import type { Context } from '../operation/context.js';
import { getArchiveFolder } from '../operation/signed-urls.js';
import type { JobHandler } from '../queue/queue.js';
import { changeVersionStatus } from '../registry/version-states.js';
import { removeOthers } from '../storage/storage.js';

/** When a staged version whose check takes very long is looked at again. */
const HOUR_MS = 60 * 60_000;

/**
 * Deletes a version that was registered but never uploaded, so that its number is free again, and the archives of
 * uploads that no row came to name. Each registration reschedules the job, so that it runs 24 h after the last one. It also
 * deletes a staged version that was not approved in time.
 */
export function abandonVersion(context: Pick<Context, 'storage' | 'now' | 'queue'>): JobHandler {
  return async ({ key: versionId, commit }) => {
    const version = await commit(async (tx) => {
      const found = await tx
        .selectFrom('versions')
        .innerJoin('nodes', 'nodes.id', 'versions.node_id')
        .select(['nodes.publisher_id as publisherId', 'versions.node_id as nodeId', 'versions.version'])
        .select(['versions.status', 'versions.uploaded_at', 'versions.archive_key as key'])
        .select(['versions.approve_by', 'versions.archive_tree'])
        .where('versions.id', '=', versionId)
        .executeTakeFirst();
      if (found?.status !== 'NodeVersionStatusPending') return found;
      const now = context.now();
      const { uploaded_at, approve_by, archive_tree, publisherId: owner } = found;
      const end = approve_by === null ? undefined : Date.parse(approve_by);
      // Decided: a version without an upload within 24 h becomes Deleted with the reason no_archive.
      const isOver = uploaded_at === null || (end !== undefined && end <= now && archive_tree !== null);
      const reason = 'No owner approved it in time.';
      const to = 'NodeVersionStatusDeleted';
      if (isOver)
        await changeVersionStatus(tx, { versionId, to, right: 'service', actor: 'service', reason, now });
      else if (end !== undefined) {
        const runAt = Math.max(end, now + HOUR_MS);
        await context.queue.enqueue(tx, { kind: 'abandon-version', key: versionId, owner, runAt });
      }
      return found;
    });
    if (version)
      await removeOthers(context.storage, getArchiveFolder(version), version.key ? [version.key] : []);
  };
}

// Decided: an off-peak task that has not ended after 48 h fails and is refunded; later results are discarded.
/** Fails an off-peak task that has not ended in time. */
export function expireTask(context: Context): JobHandler {
  return async ({ key, commit }) => {
    await commit(async (tx) => {
      const task = await findRow(tx, 'tasks', { id: key });
      if (!task) return;
      const reason = 'The task did not finish within the time limit for off-peak tasks.';
      await advanceTask(tx, context, task, {
        to: 'failed',
        reason,
        code: 'off_peak_expired',
        cause: 'service',
      });
    });
  };
}

// Decided: the inputs of a task are kept until it has ended.
/** Removes the inputs of a task that has ended or was never created, and the results of attempts that failed. */
export function forgetInputs(context: Pick<Context, 'database' | 'storage'>): JobHandler {
  return ({ key: taskId }) => removeUnusedFiles(context, taskId);
}
