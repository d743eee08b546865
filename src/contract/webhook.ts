import { z } from 'zod';
import { operation } from './operation.js';
import { DateTime } from './schema/identifiers.js';
import { defineObject } from './schema/values.js';

const WebhookSecret = defineObject('WebhookSecret', {
  secret: z.string().describe('Signing secret: whsec_ and Base64'),
  previous: z
    .array(z.string())
    .optional()
    .describe('Replaced secrets that still sign as well, newest first; absent if there are none'),
});

// Decided: `pending` is retried at next_at; `failed` was given up; `gone` was answered with 410, or follows a
// delivery that was; `cancelled` was ended by its user.
export const WebhookDelivery = defineObject('WebhookDelivery', {
  id: z.string().describe('Its webhook-id, the same for all attempts'),
  task_id: z.string(),
  event: z.string().meta({ examples: ['image.task.updated', 'video.task.updated'] }),
  state: z.string().describe('Status or state of the task that it reports'),
  url: z.string().describe('Where it is sent'),
  attempts: z.int().min(0),
  status: z.enum(['pending', 'delivered', 'failed', 'gone', 'cancelled']),
  reason: z.string().optional().describe('Why the last attempt failed, or why there is none'),
  next_at: DateTime.optional().describe('When the next attempt is made; only while it is pending'),
  created_at: DateTime,
});

export const webhook = {
  secret: operation('GET /users/webhook-secret', {
    summary: 'Show the secret that signs your webhooks',
    who: 'person',
    response: WebhookSecret,
    extension: 'webhooks are verified with it',
    secret: true,
  }),
  rotateSecret: operation('POST /users/webhook-secret/rotate', {
    summary: 'Replace the secret that signs your webhooks; the old one also signs for 24 hours',
    who: 'person',
    response: WebhookSecret,
    destroys: {
      action: 'Replace your webhook secret',
      loss: 'After 24 hours, receivers that still have the old one refuse your webhooks.',
    },
    extension: 'replaces a secret that leaked',
    secret: true,
  }),
  // Decided: the newest 1000, not paged.
  deliveries: operation('GET /users/webhook-deliveries', {
    summary: 'List the deliveries of your webhooks, newest first, at most 1000',
    who: 'person',
    query: z.object({
      task_id: z.string().max(1024).optional().describe('Only deliveries for this task'),
    }),
    response: z.array(WebhookDelivery),
    extension: 'says what became of webhooks',
  }),
  // Decided: any delivery may be sent again, with its webhook-id and fresh result URLs; it is retried until 24 hours
  // after its creation, and an older one is attempted once. Earlier pending ones of its task come first.
  resend: operation('POST /users/webhook-deliveries/{deliveryId}/resend', {
    summary: 'Send a delivery of your webhooks again; one that waits for its next attempt is sent now',
    who: 'person',
    response: WebhookDelivery,
    extension: 'a receiver that was down need not wait for the next attempt, nor miss what was given up',
  }),
  cancel: operation('POST /users/webhook-deliveries/{deliveryId}/cancel', {
    summary: 'Cancel a pending delivery of your webhooks; later deliveries of its task go on',
    who: 'person',
    response: WebhookDelivery,
    extension: 'a delivery that its receiver cannot take delays the later ones of its task',
  }),
};
