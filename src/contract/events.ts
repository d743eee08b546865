import type { z } from 'zod';
import { ImageTask } from './image-task.js';
import { VideoCreations } from './video.js';

// Decided: an image webhook's body is flat, on every change of status; a video callback tells of processing, success
// and failed. Both are sent as Standard Webhooks say (https://www.standardwebhooks.com).
/** What webhooks are told of, and the body of each. */
export const webhookEvents = {
  'image.task.updated': ImageTask,
  'video.task.updated': VideoCreations,
} as const satisfies Record<string, z.ZodType>;

export type WebhookEvent = keyof typeof webhookEvents;

export const webhookHeaders = {
  /** The same over retries. */
  id: 'webhook-id',
  /** Of this attempt, in seconds since the epoch. */
  timestamp: 'webhook-timestamp',
  /** One or more of `v1,<Base64>`, with spaces between: HMAC-SHA256 over `id.timestamp.body`. */
  signature: 'webhook-signature',
  /** Not covered by the signature. */
  event: 'webhook-event',
} as const;

/** What the Base64 of a signing secret stands behind. */
export const webhookSecretPrefix = 'whsec_';
