import { z } from 'zod';
import { operation } from './operation.js';
import { DateTime } from './rules.js';

const WebhookSecret = z
  .object({
    secret: z.string().meta({ description: 'What the signatures are made with: whsec_ and Base64' }),
  })
  .meta({ id: 'WebhookSecret' });

// Decided: `pending` is tried again at next_at; `failed` is given up; `gone` is what the receiver answered 410 to, and
// all that came after it.
export const WebhookDelivery = z
  .object({
    id: z.string().meta({ description: 'Its webhook-id, the same over retries' }),
    task_id: z.string(),
    event: z.string().meta({ examples: ['image.task.updated', 'video.task.updated'] }),
    state: z.string().meta({ description: 'The status or state of the task that it tells of' }),
    url: z.string().meta({ description: 'Where it is told' }),
    attempts: z.int().min(0),
    status: z.enum(['pending', 'delivered', 'failed', 'gone']),
    reason: z.string().optional().meta({ description: 'Why the last attempt failed' }),
    next_at: DateTime.optional().meta({ description: 'When it is tried next; only while it is pending' }),
    created_at: DateTime,
  })
  .meta({ id: 'WebhookDelivery' });

export const webhook = {
  secret: operation({
    method: 'GET',
    path: '/users/webhook-secret',
    summary: 'Show the secret that signs your webhooks',
    auth: 'bearer',
    response: WebhookSecret,
    extension: true,
    secret: true,
  }),
  rotateSecret: operation({
    method: 'POST',
    path: '/users/webhook-secret/rotate',
    summary: 'Replace the secret that signs your webhooks; the old one signs too for 24 hours',
    auth: 'bearer',
    response: WebhookSecret,
    extension: true,
    secret: true,
  }),
  // Decided: the newest 1000, without pages.
  deliveries: operation({
    method: 'GET',
    path: '/users/webhook-deliveries',
    summary: 'List what your webhooks were told or are yet to be told, newest first, at most 1000',
    auth: 'bearer',
    query: z.object({ task_id: z.string().optional().meta({ description: 'Of this task alone' }) }),
    response: z.array(WebhookDelivery),
    extension: true,
  }),
};
