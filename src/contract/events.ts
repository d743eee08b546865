import type { z } from 'zod';
import { ImageTask } from './image-task.js';
import type { TaskKind } from './operation.js';
import { VideoCreations } from './video.js';

// Decided: the body of an image webhook is flat and is sent on every change of status; video callbacks are
// sent for processing, success and failed. Both follow Standard Webhooks (https://www.standardwebhooks.com).
/** The events that webhooks are sent for, with the body of each. */
export const webhookEvents = {
  'image.task.updated': ImageTask,
  'video.task.updated': VideoCreations,
} as const satisfies Record<string, z.ZodType>;

export type WebhookEvent = keyof typeof webhookEvents;

/** The statuses of a task that each event reports. */
export const webhookStates = {
  'image.task.updated': ['IN_PROGRESS', 'COMPLETED', 'FAILED'],
  'video.task.updated': ['processing', 'success', 'failed'],
} as const satisfies Record<WebhookEvent, readonly string[]>;

export function getWebhookEvent(kind: TaskKind): WebhookEvent {
  return `${kind}.task.updated`;
}

export const webhookHeaders = {
  /** The same for all attempts. */
  id: 'webhook-id',
  /** When this attempt was made, in seconds since the epoch. */
  timestamp: 'webhook-timestamp',
  /** One or more of `v1,<Base64>`, separated by spaces: HMAC-SHA256 of `id.timestamp.body`. */
  signature: 'webhook-signature',
  /** Not covered by the signature. */
  event: 'webhook-event',
} as const;

/** The prefix of a signing secret, before its Base64. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_';
