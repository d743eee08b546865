import { getRow, updateRows } from '../database/database.js';
import { advanceTask } from '../generation/task-states.js';
import type { Context } from '../operation/context.js';
import { type JobKind, MAX_CRASHES } from '../queue/queue.js';
import { storeDefinitions } from '../registry/definitions.js';
import { changeVersionStatus } from '../registry/version-states.js';

type Quarantine = NonNullable<JobKind['quarantine']>;

export function failQuarantinedTask(context: Context): Quarantine {
  return ({ key: taskId, commit }) =>
    commit(async (tx) => {
      const task = await getRow(tx, 'tasks', { id: taskId });
      const reason = `The service ended unexpectedly ${MAX_CRASHES} times while it generated this.`;
      await advanceTask(tx, context, task, { to: 'running' });
      await advanceTask(tx, context, task, { to: 'failed', reason, code: 'quarantined', cause: 'service' });
    });
}

/** Flags a version whose archive could not be checked. */
export function flagVersion({ now }: Context): Quarantine {
  return ({ key: versionId, commit }) =>
    commit(async (tx) => {
      const version = await getRow(tx, 'versions', { id: versionId });
      await storeDefinitions(tx, { versionId, nodeId: version.node_id, nodes: undefined });
      // The owner or an admin has already changed the status.
      if (version.status !== 'NodeVersionStatusPending') return;
      await changeVersionStatus(tx, {
        versionId,
        to: 'NodeVersionStatusFlagged',
        reason: `The service ended unexpectedly ${MAX_CRASHES} times while it checked this archive.`,
        right: 'service',
        actor: 'service',
        now: now(),
      });
    });
}

/** Gives up the delivery that was attempted, and goes on with the next one of its task. */
export function failDelivery({ queue }: Context): Quarantine {
  return ({ key: taskId, commit }) =>
    commit(async (tx) => {
      const [attempted, next] = await tx
        .selectFrom('webhook_deliveries')
        .select(['id', 'user_id'])
        .where('task_id', '=', taskId)
        .where('status', '=', 'pending')
        .orderBy('number')
        .limit(2)
        .execute();
      if (!attempted) return;
      const reason = `the service ended unexpectedly ${MAX_CRASHES} times during the delivery`;
      await updateRows(
        tx,
        'webhook_deliveries',
        { id: attempted.id },
        { status: 'failed', reason, next_at: null },
      );
      if (next) await queue.enqueue(tx, { kind: 'deliver-webhook', key: taskId, owner: next.user_id });
    });
}
