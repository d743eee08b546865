import type { Database } from '../context.js';
import { eventOf } from '../generation/webhook-body.js';
import type { Answer, Call } from '../http/handler.js';

const mostListed = 1000;

/** Answers with the caller's own deliveries. */
export async function listDeliveries(
  { caller, query }: Call<'webhook.deliveries'>,
  database: Database,
): Promise<Answer<'webhook.deliveries'>> {
  const rows = await database
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('tasks', 'tasks.id', 'delivery.task_id')
    .select(['delivery.id', 'task_id', 'operation', 'state', 'url', 'attempts', 'delivery.status'])
    .select(['delivery.reason', 'delivery.created_at'])
    // What waits for an earlier one of its task is not tried before that.
    .select(({ selectFrom }) =>
      selectFrom('webhook_deliveries as waiting')
        .select(({ fn }) => fn.max('waiting.next_at').as('next_at'))
        .whereRef('waiting.task_id', '=', 'delivery.task_id')
        .where('waiting.status', '=', 'pending')
        .as('next_at'),
    )
    .where('delivery.user_id', '=', caller.userId as string)
    .$if(query.task_id !== undefined, (of) => of.where('task_id', '=', query.task_id as string))
    .orderBy('number', 'desc')
    .limit(mostListed)
    .execute();
  return rows.map(({ operation, reason, next_at, ...row }) => ({
    ...row,
    event: eventOf(operation),
    reason: reason ?? undefined,
    next_at: row.status === 'pending' ? (next_at ?? undefined) : undefined,
  }));
}
