import { createHmac } from 'node:crypto';
import { WEBHOOK_SECRET_PREFIX, type WebhookEvent, webhookHeaders } from '../contract/events.js';

/** The parts of a webhook that its signature covers. */
export interface SignedMessage {
  readonly id: string;
  /** Seconds since the epoch, as in the header. */
  readonly timestamp: string;
  /** The bytes that are sent. */
  readonly body: Uint8Array | string;
}

/**
 * A webhook to be sent.
 * @internal
 */
export interface WebhookMessage extends Pick<SignedMessage, 'id' | 'body'> {
  readonly event: WebhookEvent;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Creates the headers of a webhook, with one signature per secret.
 * @internal
 */
export function createWebhookHeaders(
  secrets: readonly string[],
  { id, body, event, now }: WebhookMessage,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => signWebhook(secret, { id, timestamp, body }));
  return {
    'content-type': 'application/json',
    [webhookHeaders.id]: id,
    [webhookHeaders.timestamp]: timestamp,
    [webhookHeaders.signature]: signatures.join(' '),
    [webhookHeaders.event]: event,
  };
}

/**
 * Signs a webhook as defined by Standard Webhooks: `v1,<Base64>`.
 * @param secret Base64, with or without the prefix `whsec_`
 */
export function signWebhook(secret: string, { id, timestamp, body }: SignedMessage): string {
  const base64 = secret.startsWith(WEBHOOK_SECRET_PREFIX)
    ? secret.slice(WEBHOOK_SECRET_PREFIX.length)
    : secret;
  const key = Buffer.from(base64, 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
