import type { Tx } from '../../database/database.js';
import type { Handlers, OperationAnswer, OperationCall } from '../../operation/call.js';
import { recordAction } from '../../operation/record-action.js';
import { getVisiblePublisher, loadViewer } from '../access.js';
import { refreshNodes } from '../listed-host-nodes.js';
import { viewPublishers } from '../publisher-view.js';

// Decided: a ban hides a publisher's nodes without changing them, so that lifting it restores them unchanged.
async function setPublisher(
  call: OperationCall<'admin.publisher.set'>,
  tx: Tx,
): Promise<OperationAnswer<'admin.publisher.set'>> {
  const viewer = await loadViewer(tx, call.caller);
  const before = await getVisiblePublisher(tx, viewer, call.params.publisherId);
  const { id } = before;
  const { status } = call.body;
  // The same status may be given with a new reason.
  const isChange = status !== before.status;
  const reason = call.body.reason ?? (isChange ? '' : (before.status_reason ?? ''));
  if (isChange || reason !== (before.status_reason ?? '')) {
    const status_reason = reason || null;
    await tx.updateTable('publishers').set({ status, status_reason }).where('id', '=', id).execute();
    if (isChange) await refreshNodes(tx, id);
    const event = { kind: 'publisher', id, publisherId: id, action: 'publisher.status', status } as const;
    await recordAction(call, tx, { ...event, reason: reason || undefined });
  }
  const row = await getVisiblePublisher(tx, viewer, id);
  return (await viewPublishers(tx, viewer, [row])).get(id) as OperationAnswer<'admin.publisher.set'>;
}

export const adminPublisherHandlers = {
  'admin.publisher.set': { write: setPublisher },
} satisfies Partial<Handlers>;
