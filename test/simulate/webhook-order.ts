import type { ReceivedWebhook } from '../support/receiver.js';

const STATUSES = {
  image: ['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED'],
  video: ['created', 'queueing', 'processing', 'success', 'failed'],
};

/**
 * Compares the webhooks of a task with the rules: a repeated one comes before the next one, no status has two, and
 * the last one has the status that the task ended with.
 * @returns what is wrong, if anything is
 */
export function findDisorder(
  received: readonly ReceivedWebhook[],
  { id, kind, status }: { id: string; kind: 'image' | 'video'; status: string },
): string | undefined {
  const changes = received
    .filter(({ body }) => (body.task_id ?? body.id) === id)
    .map(({ headers, body }) => `${headers['webhook-id']} ${body.status ?? body.state}`);
  const inTurn = changes.filter((one, at) => one !== changes[at - 1]);
  const ranks = inTurn.map((one) => STATUSES[kind].indexOf(one.split(' ')[1] as string));
  const inOrder = ranks.every((rank, at) => at === 0 || rank > (ranks[at - 1] as number));
  const isWhole = inTurn.at(-1)?.endsWith(` ${status}`);
  return inOrder && isWhole ? undefined : `webhooks of ${id}, ${status}: ${changes.join(', ')}`;
}
