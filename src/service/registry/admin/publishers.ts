import type { Tx } from '../../context.js';
import type { Answer, Call } from '../../http/handler.js';
import { record } from '../events.js';
import { publisherViews } from '../publisher-view.js';
import { sightOf } from '../sight.js';
import { visiblePublisher } from '../visible.js';

// Decided: a ban hides a publisher's nodes without touching them, so that lifting it gives them back as they were.
export async function setPublisher(
  { params, body, caller, context }: Call<'admin.publisher.set'>,
  tx: Tx,
): Promise<Answer<'admin.publisher.set'>> {
  const sight = await sightOf(tx, caller);
  const before = await visiblePublisher(tx, sight, params.publisherId);
  const { id } = before;
  const { status } = body;
  // The same status given again may bring another reason.
  const isChange = status !== before.status;
  const reason = body.reason ?? (isChange ? '' : (before.status_reason ?? ''));
  if (isChange || reason !== (before.status_reason ?? '')) {
    const status_reason = reason || null;
    await tx.updateTable('publishers').set({ status, status_reason }).where('id', '=', id).execute();
    const event = { actor: caller.userId as string, kind: 'publisher', id } as const;
    await record(tx, context.now, {
      ...event,
      action: 'publisher.status',
      status,
      ...(reason && { reason }),
    });
  }
  const row = await visiblePublisher(tx, sight, id);
  return (await publisherViews(tx, sight, [row])).get(id) as Answer<'admin.publisher.set'>;
}
