import { z } from 'zod';
import { operation } from './operation.js';
import { DateTime } from './schema/identifiers.js';

const WebhookSecret = z
  .object({
    secret: z.string().meta({ description: 'Signing secret: whsec_ and Base64' }),
  })
  .meta({ id: 'WebhookSecret' });

// Decided: `pending` is retried at next_at; `failed` was given up; `gone` was answered with 410, or follows a
// delivery that was.
export const WebhookDelivery = z
  .object({
    id: z.string().meta({ description: 'Its webhook-id, the same for all attempts' }),
    task_id: z.string(),
    event: z.string().meta({ examples: ['image.task.updated', 'video.task.updated'] }),
    state: z.string().meta({ description: 'Status or state of the task that it reports' }),
    url: z.string().meta({ description: 'Where it is sent' }),
    attempts: z.int().min(0),
    status: z.enum(['pending', 'delivered', 'failed', 'gone']),
    reason: z.string().optional().meta({ description: 'Why the last attempt failed' }),
    next_at: DateTime.optional().meta({
      description: 'When the next attempt is made; only while it is pending',
    }),
    created_at: DateTime,
  })
  .meta({ id: 'WebhookDelivery' });

export const webhook = {
  secret: operation({
    method: 'GET',
    path: '/users/webhook-secret',
    summary: 'Show the secret that signs your webhooks',
    who: 'person',
    response: WebhookSecret,
    extension: 'webhooks are verified with it',
    secret: true,
  }),
  rotateSecret: operation({
    method: 'POST',
    path: '/users/webhook-secret/rotate',
    summary: 'Replace the secret that signs your webhooks; the old one also signs for 24 hours',
    who: 'person',
    response: WebhookSecret,
    extension: 'replaces a secret that leaked',
    secret: true,
  }),
  // Decided: the newest 1000, not paged.
  deliveries: operation({
    method: 'GET',
    path: '/users/webhook-deliveries',
    summary: 'List the deliveries of your webhooks, newest first, at most 1000',
    who: 'person',
    query: z.object({
      task_id: z.string().max(1024).optional().meta({ description: 'Only deliveries for this task' }),
    }),
    response: z.array(WebhookDelivery),
    extension: 'says what became of webhooks',
  }),
};
