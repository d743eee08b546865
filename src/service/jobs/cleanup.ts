import { removeInputs } from '../generation/task-files.js';
import { ACTIVE_STATUSES, advanceTask } from '../generation/task-states.js';
import type { Context } from '../operation/context.js';
import { getArchiveKey } from '../operation/signed-urls.js';
import type { JobHandler } from '../queue/queue.js';
import { changeVersionStatus } from '../registry/version-states.js';

/**
 * Deletes a version that was registered but never uploaded, so that its number is free again. Each
 * registration reschedules the job, so that it runs 24 h after the last one.
 */
export function abandonVersion(context: Context): JobHandler {
  return async ({ key: versionId }) => {
    await context.database.transaction().execute(async (tx) => {
      // Decided: a version without an upload within 24 h becomes Deleted with the reason no_archive.
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
      await changeVersionStatus(tx, {
        versionId,
        to,
        right: 'service',
        actor: 'service',
        now: context.now(),
      });
      // A file that a crash left without a row; it must go before the number is free again.
      await context.storage.remove(getArchiveKey(version));
    });
  };
}

// Decided: an off-peak task that has not ended after 48 h fails and is refunded; later results are discarded.
/** Fails an off-peak task that has not ended in time. */
export function expireTask(context: Context): JobHandler {
  return async ({ key }) => {
    await context.database.transaction().execute(async (tx) => {
      const task = await tx
        .selectFrom('tasks')
        .select(['id', 'operation'])
        .where('id', '=', key)
        .executeTakeFirstOrThrow();
      const reason = 'The task did not finish within the time limit for off-peak tasks.';
      await advanceTask(tx, context, task, { to: 'failed', reason, code: 'off_peak_expired' });
    });
  };
}

// Decided: the inputs of a task are kept until it has ended.
/** Removes the inputs of a task that has ended or was never created. */
export function forgetInputs(context: Context): JobHandler {
  return async ({ key: taskId }) => {
    const task = await context.database
      .selectFrom('tasks')
      .select('id')
      .where('id', '=', taskId)
      .where('status', 'in', ACTIVE_STATUSES)
      .executeTakeFirst();
    if (!task) await removeInputs(context, taskId);
  };
}
