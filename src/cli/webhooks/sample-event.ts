import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { WebhookEvent, webhookEvents } from '../../contract/events.js';

interface SampleEvent {
  /** What the service sends, field by field. */
  readonly body: z.output<(typeof webhookEvents)[WebhookEvent]>;
  readonly taskId: string;
}

type Bodies = { [Event in WebhookEvent]: z.output<(typeof webhookEvents)[Event]> };

/** Builds the body that the service sends for a task in this state. Its results do not exist. */
export function buildSampleEvent(event: WebhookEvent, state: string): SampleEvent {
  const taskId = randomUUID();
  const toUrl = (name: string) => `https://example.com/results/${taskId}/${name}`;
  if (event === 'image.task.updated') {
    const generated = state === 'COMPLETED' ? [toUrl('0.png')] : [];
    const body: Bodies[typeof event] = { generated, status: state, task_id: taskId };
    return { body, taskId };
  }
  const isDone = state === 'success';
  const creation = { id: `${taskId}-0`, url: toUrl('0.mp4'), cover_url: toUrl('1.png'), watermarked_url: '' };
  const body: Bodies[typeof event] = {
    id: taskId,
    state: state as Bodies[typeof event]['state'],
    err_code: state === 'failed' ? 'generation_failed' : '',
    // What a failed task cost is refunded.
    credits: state === 'failed' ? 0 : 20,
    payload: '',
    creations: isDone ? [creation] : [],
  };
  return { body, taskId };
}
